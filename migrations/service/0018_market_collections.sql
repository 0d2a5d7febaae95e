-- Collections of the market that an operator imported (docs/marketplace-api.md, "Collections"): inscriptions by their ids, as they
-- may not be indexed yet, and keys of the index change where it is made anew.

CREATE SEQUENCE service.market_revisions;

CREATE TABLE service.market_collections (
  slug text COLLATE "C" PRIMARY KEY CHECK (slug ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  description text CHECK (length(description) <= 5000),
  icon_txid bytea CHECK (length(icon_txid) = 32),
  icon_index integer CHECK (icon_index >= 0),
  website text CHECK (length(website) <= 3000),
  twitter text CHECK (length(twitter) <= 3000),
  discord text CHECK (length(discord) <= 3000),
  items integer NOT NULL CHECK (items BETWEEN 0 AND 100000),
  -- sha256 of what was imported: the same again changes nothing
  digest bytea NOT NULL CHECK (length(digest) = 32),
  -- another one after each change: what was derived from an earlier one is made anew
  revision bigint NOT NULL DEFAULT nextval('service.market_revisions'),
  imported_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((icon_txid IS NULL) = (icon_index IS NULL))
);

CREATE TABLE service.market_items (
  slug text COLLATE "C" NOT NULL REFERENCES service.market_collections ON DELETE CASCADE,
  -- its place in the file, from 0
  place integer NOT NULL CHECK (place >= 0),
  index integer NOT NULL CHECK (index >= 0),
  txid bytea NOT NULL CHECK (length(txid) = 32),
  name text CHECK (length(name) BETWEEN 1 AND 200),
  PRIMARY KEY (slug, place)
);
-- which collections an inscription is in
CREATE UNIQUE INDEX market_items_id ON service.market_items (txid, index, slug);
