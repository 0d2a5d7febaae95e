-- Properties as rows that answers need not parse (docs/adr/0032-properties-in-rows.md). One derived table for indexer and
-- readers; databases with blocks get its rows from inscription_details.properties_json, which ends there.

CREATE TABLE chain.properties (
  key integer PRIMARY KEY,
  -- of the gallery
  items integer NOT NULL,
  -- of all properties as ord shows them
  json_bytes integer NOT NULL,
  -- what searches read: the beginning of the title, folded; terms of the traits (kernel/text/property-texts.ts)
  title bytea,
  traits bytea,
  -- title and traits as ord shows them: JSON
  attributes bytea NOT NULL
);
-- read in pieces where it is long
ALTER TABLE chain.properties ALTER COLUMN attributes SET STORAGE EXTERNAL;

-- A hundred items each, as ord's pages have them; the last page has the rest.
CREATE TABLE chain.gallery_pages (
  key integer NOT NULL,
  page integer NOT NULL,
  -- of the items: 36 bytes each, txid and index (little endian)
  ids bytea NOT NULL,
  PRIMARY KEY (key, page)
);
-- two rows fit into a page of the table: nothing is gained by keeping them elsewhere
ALTER TABLE chain.gallery_pages ALTER COLUMN ids SET STORAGE MAIN;

-- Title and traits of those items that have any.
CREATE TABLE chain.gallery_attributes (
  key integer NOT NULL,
  position integer NOT NULL,
  attributes bytea NOT NULL,
  PRIMARY KEY (key, position)
);
ALTER TABLE chain.gallery_attributes ALTER COLUMN attributes SET STORAGE EXTERNAL;

-- Of ids of 36 bytes each, for an index that finds the galleries of an inscription. Dear, so that the planner prefers the index.
CREATE FUNCTION chain.id_hashes(ids bytea) RETURNS integer[]
  LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
  RETURN ARRAY(SELECT chain.hash32(substring(ids FROM at FOR 36)) FROM generate_series(1, length(ids), 36) AS at);

-- its rows are in chain.properties, or found by details_properties until they are
DROP INDEX IF EXISTS chain.details_gallery;

-- The same of what is pending. Its tables are filled anew by every start of what follows the mempool.
DROP VIEW chain.pending_inscriptions;
ALTER TABLE chain.mempool_inscriptions
  DROP COLUMN properties_json,
  ADD COLUMN title bytea,
  ADD COLUMN traits bytea,
  ADD COLUMN gallery bytea;
CREATE VIEW chain.pending_inscriptions AS
  SELECT i.*, t.first_seen, t.fee, t.vsize, t.replaces, t.block_height
    FROM chain.mempool_inscriptions AS i
    JOIN chain.pending_transactions AS t USING (position)
   WHERE NOT EXISTS (SELECT FROM chain.inscriptions AS x WHERE x.txid = i.txid AND x.index = i.index);
