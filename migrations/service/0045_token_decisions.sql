-- What operators decide about outputs that token payments set aside (docs/tokenpay.md, "For operators").

-- an inscription or a special sat is in it: nothing of it is credited, and nothing spends it
ALTER TABLE service.token_credits
  DROP CONSTRAINT token_credits_aside_check,
  ADD CONSTRAINT token_credits_aside_check CHECK (aside IN ('inscribed', 'special'));

ALTER TABLE service.wallet_coins
  DROP CONSTRAINT wallet_coins_aside_check,
  ADD CONSTRAINT wallet_coins_aside_check CHECK (aside IN ('inscribed', 'runic', 'special'));

-- One decision for each output. It holds for whichever block has the output.
CREATE TABLE service.token_decisions (
  txid bytea CHECK (length(txid) = 32),
  vout integer CHECK (vout >= 0),
  order_id uuid NOT NULL REFERENCES service.token_orders,
  -- it is credited as money; or it is sent to an address
  kind text NOT NULL CHECK (kind IN ('credit', 'return')),
  -- why it was set aside
  found text NOT NULL CHECK (found IN ('inscribed', 'special')),
  decided_at timestamptz NOT NULL DEFAULT now(),
  -- for people
  decided_by text NOT NULL CHECK (length(decided_by) BETWEEN 1 AND 100),
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 1000),
  -- what sends it
  payout uuid UNIQUE REFERENCES service.payouts,
  PRIMARY KEY (txid, vout),
  CHECK ((payout IS NOT NULL) = (kind = 'return'))
);
CREATE INDEX token_decisions_order ON service.token_decisions (order_id);
