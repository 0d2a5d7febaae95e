-- The first inscription of a content stands with the content: an index on (content_id, key), which would find it too,
-- takes 13 bytes more an inscription, as equal content ids alone share an entry.

ALTER TABLE chain.contents ADD COLUMN first_key integer;
UPDATE chain.contents c SET first_key = found.key
FROM (SELECT content_id, min(key) AS key FROM chain.inscriptions GROUP BY content_id) AS found
WHERE found.content_id = c.content_id;

-- inscriptions_content takes its place again (indexer/apply/secondary-indexes.ts)
DROP INDEX IF EXISTS chain.inscriptions_content_key;
