-- Sats of the inventory for orders (docs/orders.md, "Sats of the inventory").

-- The output of the inventory whose sat an order inscribes. It has one file, so it has one output.
CREATE TABLE service.reserved_outputs (
  order_id uuid PRIMARY KEY REFERENCES service.orders ON DELETE CASCADE,
  txid bytea NOT NULL CHECK (length(txid) = 32),
  vout bigint NOT NULL CHECK (vout BETWEEN 0 AND 4294967295),
  value bigint NOT NULL CHECK (value > 0),
  -- of the wallet's branch for the inventory
  key_index integer NOT NULL CHECK (key_index BETWEEN 0 AND 99),
  -- its block when it was reserved
  height integer NOT NULL CHECK (height >= 0),
  block_hash bytea NOT NULL CHECK (length(block_hash) = 32),
  -- sats of the output before the one that is inscribed, and that one by its number
  place bigint NOT NULL CHECK (place >= 0 AND place < value),
  sat bigint NOT NULL CHECK (sat >= 0),
  -- who reserved it, as limits count clients; null once it is released
  client text,
  reserved_at timestamptz NOT NULL DEFAULT now(),
  -- null: no other order gets it
  released_at timestamptz
);
CREATE UNIQUE INDEX reserved_outputs_held ON service.reserved_outputs (txid, vout) WHERE released_at IS NULL;
CREATE INDEX reserved_outputs_client ON service.reserved_outputs (client) WHERE released_at IS NULL;

-- what the inventory gave to deliveries
ALTER TABLE service.ledger_entries
  DROP CONSTRAINT ledger_entries_from_account_check, DROP CONSTRAINT ledger_entries_to_account_check,
  ADD CONSTRAINT ledger_entries_from_account_check CHECK (from_account IN (
    'outside', 'owed', 'deposit', 'postage', 'fee', 'service', 'referral', 'creator', 'token', 'operator', 'refund', 'inventory')),
  ADD CONSTRAINT ledger_entries_to_account_check CHECK (to_account IN (
    'outside', 'owed', 'deposit', 'postage', 'fee', 'service', 'referral', 'creator', 'token', 'operator', 'refund', 'inventory'));
