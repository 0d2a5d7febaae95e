-- Coins that the operator gives for what orders cost the service (docs/orders.md, "Funds").

CREATE TABLE service.fund_addresses (
  -- of the wallet's branch for the service's own outputs
  own_index integer PRIMARY KEY CHECK (own_index >= 0),
  script bytea NOT NULL UNIQUE CHECK (length(script) = 34),
  address text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- null: what came to these addresses, which belongs to no order
ALTER TABLE service.ledger_entries ALTER order_id DROP NOT NULL;
ALTER TABLE service.ledger_entries ADD CONSTRAINT ledger_entries_funds_check CHECK (
  order_id IS NOT NULL OR (from_account IN ('outside', 'operator') AND to_account IN ('outside', 'operator')));
CREATE INDEX ledger_entries_funds ON service.ledger_entries (id) WHERE order_id IS NULL;

-- the funds of the operator differ, too
ALTER TABLE service.orders_audit DROP CONSTRAINT orders_audit_check;
ALTER TABLE service.orders_audit ADD CHECK (differing >= 0);
