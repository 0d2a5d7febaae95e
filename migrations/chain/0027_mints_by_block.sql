-- Mints of a rune in a block are one row: a row each was a third of all rows of runes, with two indexes.
CREATE TEMP TABLE indexed ON COMMIT DROP AS SELECT to_regclass('chain.rune_mints_rune') IS NOT NULL AS is_indexed;
CREATE TEMP TABLE minted ON COMMIT DROP AS
SELECT height, rune_key, max(mints) AS mints, array_agg(tx_index ORDER BY tx_index) AS tx_indexes,
  string_agg(txid, ''::bytea ORDER BY tx_index) AS txids
FROM chain.rune_mints GROUP BY height, rune_key;
DROP TABLE chain.rune_mints;

-- The last row of a rune up to a height has how often it was minted by then.
CREATE TABLE chain.rune_mints (
  height integer NOT NULL,
  rune_key integer NOT NULL,
  -- those of this block counted
  mints integer NOT NULL,
  -- of the transactions, ascending
  tx_indexes integer[] NOT NULL,
  -- of each, 32 bytes. Null: they have rows in rune_balances or rune_burns, as they have unless the mint gives 0
  txids bytea,
  PRIMARY KEY (height, rune_key)
);
INSERT INTO chain.rune_mints
SELECT height, rune_key, mints, tx_indexes, txids FROM minted ORDER BY height, rune_key;

DO $indexed$
BEGIN
  IF EXISTS (SELECT FROM indexed WHERE is_indexed) THEN
    CREATE INDEX rune_mints_rune ON chain.rune_mints (rune_key, height);
  END IF;
END
$indexed$;

-- Room for rows that are marked as spent in their page: their primary key then needs no second entry while it is the only index
-- of a first load. Two of its indexes have fewer columns where they are built from now on (indexer/derived/runes).
ALTER TABLE chain.rune_balances SET (fillfactor = 90);
