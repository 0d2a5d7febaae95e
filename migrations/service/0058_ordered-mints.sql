-- Mints of runes that customers order: each is a transaction that spends an output of the commit of its order
-- (docs/orders.md, "Mints"). Earlier orders mint nothing.
CREATE TABLE service.ordered_mints (
  txid bytea PRIMARY KEY REFERENCES service.wallet_transactions,
  commit_txid bytea NOT NULL REFERENCES service.wallet_transactions CHECK (commit_txid <> txid),
  order_id uuid NOT NULL REFERENCES service.orders ON DELETE CASCADE,
  -- of the output of the commit that it spends
  place integer NOT NULL CHECK (place >= 0),
  -- number of the name of the rune
  rune numeric(39, 0) NOT NULL CHECK (rune >= 0),
  made_at timestamptz NOT NULL DEFAULT now(),
  -- from then on it is sent
  released_at timestamptz,
  given_up_at timestamptz,
  -- why it cannot be executed any more, for the customer
  fault text,
  -- of the block that has it: whether it minted there. Null: no block has it
  is_executed boolean,
  CHECK ((given_up_at IS NULL) = (fault IS NULL))
);
CREATE INDEX ordered_mints_order ON service.ordered_mints (order_id, place);
CREATE INDEX ordered_mints_open ON service.ordered_mints (rune) WHERE is_executed IS NULL AND given_up_at IS NULL;

ALTER TABLE service.orders DROP CONSTRAINT orders_state_check, ADD CONSTRAINT orders_state_check CHECK (state IN (
  'waiting-payment', 'waiting-parent', 'waiting-confirmation', 'prep', 'waiting-reveal', 'waiting-rune-balance', 'queued',
  'completed', 'expired', 'cancelled', 'waiting-refund', 'refunded', 'error'));
