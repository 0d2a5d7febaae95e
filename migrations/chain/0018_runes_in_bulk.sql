-- A first load of runes maintains only what it needs. A mint is found by its place, which comes in order; the index by rune, and
-- that from outpoints, are built at the end, or just before the first question (indexer/derived/runes).
ALTER TABLE chain.rune_mints DROP CONSTRAINT rune_mints_pkey, ADD PRIMARY KEY (height, tx_index);
DROP INDEX IF EXISTS chain.rune_mints_height;

DO $empty$
BEGIN
  IF NOT EXISTS (SELECT FROM chain.rune_balances) THEN
    DROP INDEX chain.rune_balances_outpoint;
  END IF;
END
$empty$;
