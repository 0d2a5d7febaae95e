-- The sats that outputs had in the blocks that made them, where a satribute is defined by them (docs/adr/0058-provenance.md).
-- They follow from output and block alone, so rows say nothing of satributes: another rule wants other rows.
CREATE TABLE chain.provenance (
  txid bytea NOT NULL CHECK (length(txid) = 32),
  vout integer NOT NULL,
  height integer NOT NULL,
  -- of the node's block at that height when its sats were found
  block_hash bytea CHECK (length(block_hash) = 32),
  -- in the order of the output, 11 bytes each
  ranges bytea CHECK (length(ranges) % 11 = 0),
  -- why they cannot be found; tried again now and then
  problem text,
  traced_at timestamptz NOT NULL,
  PRIMARY KEY (txid, vout, height),
  CHECK ((ranges IS NULL) = (block_hash IS NULL) AND (ranges IS NULL) = (problem IS NOT NULL))
);
