-- Parents of orders (docs/orders.md, "Parents"): the deposit address of each, to which its owner sends it.

CREATE TABLE service.order_parents (
  order_id uuid NOT NULL REFERENCES service.orders ON DELETE CASCADE,
  -- of the parent among those of the order: its terms say which inscription it is, its value, and where it returns
  index integer NOT NULL CHECK (index >= 0),
  -- of the wallet's branch for orders: no order and no other parent has it
  key_index integer NOT NULL UNIQUE CHECK (key_index >= 0),
  -- of the key alone (BIP 86)
  script bytea NOT NULL UNIQUE CHECK (length(script) = 34),
  address text NOT NULL,
  PRIMARY KEY (order_id, index)
);

-- an order that waits for a parent
ALTER TABLE service.orders DROP CONSTRAINT orders_state_check, ADD CONSTRAINT orders_state_check CHECK (state IN (
  'waiting-payment', 'waiting-parent', 'waiting-confirmation', 'prep', 'queued', 'completed',
  'expired', 'cancelled', 'waiting-refund', 'refunded', 'error'));

-- what sends a deposit home that no delivery uses
ALTER TABLE service.order_transactions DROP CONSTRAINT order_transactions_kind_check,
  ADD CONSTRAINT order_transactions_kind_check CHECK (kind IN ('commit', 'reveal', 'return', 'refund'));
