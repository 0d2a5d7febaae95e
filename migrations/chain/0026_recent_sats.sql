-- Outputs of the newest blocks of a first load, while they have no rows in sat_ranges (docs/adr/0035-sats-from-genesis.md): most
-- are spent before they need one. One row a batch of blocks, empty at the tip: what a writer that begins again must know.
CREATE TABLE chain.recent_sats (
  -- of the batch's last block
  height integer PRIMARY KEY,
  -- after this batch, the unspent outputs of lower blocks have their rows
  written_below integer NOT NULL,
  -- outputs that the batch made and left: txid, vout, height, number of ranges (32-bit, little endian) and ranges of each
  made bytea NOT NULL,
  -- outputs of earlier batches that it spent: txid and vout of each
  spent bytea NOT NULL
);
ALTER TABLE chain.recent_sats ALTER COLUMN made SET STORAGE EXTERNAL;
ALTER TABLE chain.recent_sats ALTER COLUMN spent SET STORAGE EXTERNAL;

-- A first load builds it before its first question, or at its end (indexer/derived/sats).
DO $empty$
BEGIN
  IF NOT EXISTS (SELECT FROM chain.sat_ranges) THEN
    DROP INDEX chain.sat_ranges_outpoint;
  END IF;
END
$empty$;
