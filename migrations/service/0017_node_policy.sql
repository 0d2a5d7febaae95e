-- What the node of orders takes, as its process last asked it: who orders is told before an address is shown.
CREATE TABLE service.node_policy (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- sats for 1,000 virtual bytes, below which it relays nothing
  least_fee_rate bigint NOT NULL CHECK (least_fee_rate >= 0),
  -- what it estimates for being mined soon; null: it does not say
  estimate bigint CHECK (estimate >= 0),
  asked_at timestamptz NOT NULL DEFAULT now()
);
