-- Transactions that pay for stuck ones of orders (docs/orders.md, "Stuck transactions"). Each is stored before it is sent,
-- and none is ever deleted: of those that replace each other any may be mined.

CREATE TABLE service.bumps (
  txid bytea PRIMARY KEY CHECK (length(txid) = 32),
  -- the first one that spends the same outputs: those that replace it have it too
  family bytea NOT NULL CHECK (length(family) = 32),
  bytes bytea NOT NULL,
  -- inputs and the only output, with the keys of the wallet
  plan jsonb NOT NULL,
  fee bigint NOT NULL CHECK (fee > 0),
  virtual_bytes integer NOT NULL CHECK (virtual_bytes > 0),
  -- of the wallet's branch for the service's own outputs: where what is left goes
  own_index integer NOT NULL CHECK (own_index >= 0),
  made_at timestamptz NOT NULL DEFAULT now(),
  -- when a node took it for the first time
  sent_at timestamptz,
  -- the node's last refusal
  refusal text
);
CREATE INDEX bumps_family ON service.bumps (family);

-- What a bump spends: of a coin it is asked who spends it.
CREATE TABLE service.bump_inputs (
  txid bytea NOT NULL CHECK (length(txid) = 32),
  vout integer NOT NULL CHECK (vout >= 0),
  bump bytea NOT NULL REFERENCES service.bumps,
  PRIMARY KEY (txid, vout, bump)
);

-- The stuck transactions that a bump pays for.
CREATE TABLE service.bump_parents (
  bump bytea NOT NULL REFERENCES service.bumps,
  parent bytea NOT NULL REFERENCES service.order_transactions,
  PRIMARY KEY (bump, parent)
);
CREATE INDEX bump_parents_parent ON service.bump_parents (parent);

-- What each order bears of the fee of a bump: its budget is ORDER_BUMP_MAX_SATS.
CREATE TABLE service.bump_shares (
  bump bytea NOT NULL REFERENCES service.bumps,
  order_id uuid NOT NULL REFERENCES service.orders,
  fee bigint NOT NULL CHECK (fee >= 0),
  PRIMARY KEY (bump, order_id)
);
CREATE INDEX bump_shares_order ON service.bump_shares (order_id);

-- why a transaction of the order that is stuck is not paid for, for its operator
ALTER TABLE service.orders ADD stuck text;
