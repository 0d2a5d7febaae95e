-- Reveals that etch a name: each is kept until its commit is six blocks deep (docs/orders.md, "Etchings"). Earlier orders etch
-- nothing.
CREATE TABLE service.etchings (
  reveal bytea PRIMARY KEY REFERENCES service.wallet_transactions,
  commit_txid bytea NOT NULL REFERENCES service.wallet_transactions CHECK (commit_txid <> reveal),
  order_id uuid NOT NULL REFERENCES service.orders ON DELETE CASCADE,
  -- number of the name
  rune numeric(39, 0) NOT NULL CHECK (rune >= 0),
  made_at timestamptz NOT NULL DEFAULT now(),
  -- from then on the reveal is sent
  released_at timestamptz,
  given_up_at timestamptz,
  -- why the name cannot be etched, for the customer
  fault text,
  CHECK ((given_up_at IS NULL) = (fault IS NULL))
);
CREATE INDEX etchings_commit ON service.etchings (commit_txid);
CREATE INDEX etchings_order ON service.etchings (order_id);
CREATE INDEX etchings_waiting ON service.etchings (rune) WHERE released_at IS NULL AND given_up_at IS NULL;

ALTER TABLE service.orders DROP CONSTRAINT orders_state_check, ADD CONSTRAINT orders_state_check CHECK (state IN (
  'waiting-payment', 'waiting-parent', 'waiting-confirmation', 'prep', 'waiting-reveal', 'queued', 'completed',
  'expired', 'cancelled', 'waiting-refund', 'refunded', 'error'));
