-- Bytes of an item in the script of a reveal, without what all items of a collection have: content in pushes of 520, and type.
-- Drawn items are priced as the longest ones that are free: by the index in place of a sort of all that are free.
ALTER TABLE service.mint_items ADD script_bytes integer;
UPDATE service.mint_items AS m SET script_bytes =
    f.bytes + 3 * (f.bytes / 520)
    + CASE WHEN f.bytes % 520 = 0 THEN 0 WHEN f.bytes % 520 < 76 THEN 1 WHEN f.bytes % 520 < 256 THEN 2 ELSE 3 END
    + octet_length(f.media_type)
    + CASE WHEN octet_length(f.media_type) = 0 THEN 0 WHEN octet_length(f.media_type) < 76 THEN 1
           WHEN octet_length(f.media_type) < 256 THEN 2 ELSE 3 END
  FROM service.mint_files AS f WHERE f.collection = m.collection AND f.place = m.file;
ALTER TABLE service.mint_items ALTER script_bytes SET NOT NULL;
CREATE INDEX mint_items_longest ON service.mint_items (collection, script_bytes DESC, item) WHERE order_id IS NULL;
