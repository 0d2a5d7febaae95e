-- Traits of the items of imported collections (docs/marketplace-api.md, "Collections"). A list that was imported earlier has none
-- until it is imported again.

-- A row a value: counts are read without the places, and the places of all items with a value are one read.
CREATE TABLE service.market_traits (
  slug text COLLATE "C" NOT NULL REFERENCES service.market_collections ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  value text COLLATE "C" NOT NULL CHECK (length(value) BETWEEN 1 AND 100),
  -- by how many items have it, from 0: the name in its collection, and the value in its name
  name_rank integer NOT NULL CHECK (name_rank >= 0),
  value_rank integer NOT NULL CHECK (value_rank >= 0),
  items integer NOT NULL CHECK (items BETWEEN 1 AND 100000),
  -- market_items.place of each item, ascending: big-endian numbers of four bytes
  places bytea NOT NULL CHECK (length(places) = 4 * items),
  PRIMARY KEY (slug, name, value)
);
CREATE UNIQUE INDEX market_traits_shown ON service.market_traits (slug, name_rank, value_rank);
