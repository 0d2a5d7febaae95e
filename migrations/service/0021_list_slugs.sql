-- The slug that a list gives itself, where its collection has another one: slugs of lists have capitals, dots and blanks, and
-- two lists may differ in these alone (docs/adr/0047-market-collections.md). Null: the collection has the slug of its list.

ALTER TABLE service.market_collections
  ADD COLUMN list_slug text COLLATE "C" CHECK (length(list_slug) BETWEEN 1 AND 200 AND list_slug <> slug);
-- a list has one collection
CREATE UNIQUE INDEX market_collections_list ON service.market_collections (coalesce(list_slug, slug));
