-- Filters, sorts and counts of the Postgres engine's searches: columns of 1 to 4 bytes beside those of 0002. What is sealed
-- without them is sealed anew in the background; until then searches read the inscriptions themselves.

DELETE FROM chain.search_segments WHERE kind = 2;
DELETE FROM chain.search_columns;

-- type_names: the distinct content types of the segment's inscriptions, in the order of their bytes, each as its length (two
-- bytes, big endian) and its first 513 bytes. type_codes: of every key, 0 without one, otherwise the place of its type among
-- them, from 1 on; one byte each, four where there are more than 255. cursed_keys and unknown_keys: whose number is below 0,
-- and whose is not known, as metadata_keys. Most keys of a segment have few types, which compresses well.
ALTER TABLE chain.search_columns
  ADD COLUMN type_names bytea NOT NULL,
  ADD COLUMN type_codes bytea NOT NULL,
  ADD COLUMN cursed_keys bytea NOT NULL,
  ADD COLUMN unknown_keys bytea NOT NULL;

-- kind 3: contents again, for their lengths: segments of another size, made without reading texts
ALTER TABLE chain.search_segments
  DROP CONSTRAINT search_segments_kind_check,
  ADD CONSTRAINT search_segments_kind_check CHECK (kind BETWEEN 0 AND 3);

-- Bytes of the stored body of every content of a segment of kind 3, four bytes each, big endian.
CREATE TABLE chain.search_lengths (
  segment_id integer PRIMARY KEY,
  lengths bytea NOT NULL
);
