-- The search index of the Postgres engine (docs/adr/0002-search-postings-in-segments.md). Everything here is derived
-- from 0001: it may be deleted at any time and is made again. Rows are written once and never changed.

-- A sealed range of ids. kind: 0 contents, 1 metadata texts, 2 inscriptions (ids are their keys).
-- Ids of segments are never used again, so that what was read of one may be kept in memory for ever.
CREATE TABLE chain.search_segments (
  segment_id integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  kind smallint NOT NULL CHECK (kind BETWEEN 0 AND 2),
  first_id integer NOT NULL,
  next_id integer NOT NULL CHECK (next_id > first_id),
  -- bytes of the folded texts that were read for it; what is sealed again together is bounded by them
  text_bytes integer NOT NULL,
  UNIQUE (kind, first_id)
);

-- Postings of the segments of kind 0 and 1: blocks of consecutive grams (search/segments/postings-block.ts).
CREATE TABLE chain.search_postings (
  first_gram bigint NOT NULL,
  segment_id integer NOT NULL,
  block bytea NOT NULL,
  PRIMARY KEY (segment_id, first_gram)
) WITH (toast_tuple_target = 8160);
-- A block fits one page, and is dense already.
ALTER TABLE chain.search_postings ALTER COLUMN block SET STORAGE EXTERNAL;

-- Columns of the segments of kind 2, all big endian: the content id of every key (-1 none), and which keys
-- (offset from first_id, less 32,768) have which metadata text.
CREATE TABLE chain.search_columns (
  segment_id integer PRIMARY KEY,
  content_ids bytea NOT NULL,
  metadata_keys bytea NOT NULL,
  metadata_ids bytea NOT NULL
);
ALTER TABLE chain.search_columns ALTER COLUMN content_ids SET STORAGE EXTERNAL;
ALTER TABLE chain.search_columns ALTER COLUMN metadata_keys SET STORAGE EXTERNAL;
ALTER TABLE chain.search_columns ALTER COLUMN metadata_ids SET STORAGE EXTERNAL;
