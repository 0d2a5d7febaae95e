-- Outputs of the operator's own that hold special sats, for orders (docs/inventory.md).
CREATE TABLE service.inventory_outputs (
  txid bytea NOT NULL CHECK (length(txid) = 32),
  vout bigint NOT NULL CHECK (vout BETWEEN 0 AND 4294967295),
  value bigint NOT NULL CHECK (value > 0),
  script bytea NOT NULL CHECK (length(script) BETWEEN 1 AND 520),
  -- its block when it was looked at: in another one, it is looked at again
  height integer NOT NULL CHECK (height >= 0),
  block_hash bytea NOT NULL CHECK (length(block_hash) = 32),
  -- its ranges of sats in their order: first sat, and the sat behind the last one, of each
  ranges bigint[] NOT NULL CHECK (cardinality(ranges) > 0 AND cardinality(ranges) % 2 = 0),
  added_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (txid, vout)
);
