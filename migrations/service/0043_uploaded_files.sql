-- Files that keys have uploaded, for orders and collections that name them by URL (docs/orders.md, "Uploads").

CREATE TABLE service.uploaded_files (
  -- where the file is served: part of its URL
  s3_key text COLLATE "C" PRIMARY KEY CHECK (length(s3_key) BETWEEN 38 AND 300),
  -- of the content under FILES_DIR. Two uploads of the same bytes have one content
  sha256 bytea NOT NULL CHECK (length(sha256) = 32),
  bytes integer NOT NULL CHECK (bytes > 0),
  media_type text NOT NULL CHECK (length(media_type) BETWEEN 1 AND 520),
  -- who uploaded it
  key_id integer NOT NULL REFERENCES service.keys,
  uploaded_at timestamptz NOT NULL DEFAULT now()
);
-- what names a content
CREATE INDEX uploaded_files_sha256 ON service.uploaded_files (sha256);
CREATE INDEX uploaded_files_at ON service.uploaded_files (uploaded_at, s3_key);
