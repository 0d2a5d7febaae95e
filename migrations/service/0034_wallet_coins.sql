-- The coins of the wallet, and who holds each (ADR 72).

CREATE TABLE service.wallet_coins (
  txid bytea CHECK (length(txid) = 32),
  vout integer CHECK (vout >= 0),
  value bigint NOT NULL CHECK (value >= 0),
  -- of its key
  branch smallint NOT NULL CHECK (branch >= 0),
  key_index integer NOT NULL CHECK (key_index >= 0),
  -- where it comes from: an order (the subject), a bump, or the operator
  kind text NOT NULL CHECK (kind IN ('order', 'bump', 'fund')),
  subject uuid,
  held text NOT NULL CHECK (held IN ('free', 'reserved', 'waiting')),
  -- which rule says so
  why text NOT NULL CHECK (why IN (
    'payment', 'deposit', 'commit', 'excess', 'rest', 'spending', 'delivery', 'revenue', 'fund')),
  -- what was found in it when it was to be spent; null: nothing
  aside text CHECK (aside IN ('inscribed', 'runic')),
  PRIMARY KEY (txid, vout),
  CHECK ((kind = 'order') = (subject IS NOT NULL))
);
CREATE INDEX wallet_coins_subject ON service.wallet_coins (subject) WHERE subject IS NOT NULL;
CREATE INDEX wallet_coins_fund ON service.wallet_coins (txid) WHERE kind = 'fund';
-- largest first, as they are picked
CREATE INDEX wallet_coins_free ON service.wallet_coins (value DESC, txid, vout) WHERE held = 'free' AND aside IS NULL;

-- How far the coins of orders of an earlier version are listed; one row.
CREATE TABLE service.wallet_coins_fill (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- the last order that is listed; null: none is
  after uuid,
  orders bigint NOT NULL DEFAULT 0 CHECK (orders >= 0),
  began_at timestamptz NOT NULL DEFAULT now(),
  -- null: orders are left
  ended_at timestamptz
);
INSERT INTO service.wallet_coins_fill (ended_at)
SELECT CASE WHEN EXISTS (SELECT FROM service.orders) THEN NULL ELSE now() END;
