-- Referral codes (docs/orders.md, "Referrals"): whoever brings customers gets a share of what their orders bring.

CREATE TABLE service.referrals (
  code text PRIMARY KEY CHECK (code ~ '^[!-~]{1,64}$'),
  -- where its share is paid out to, as it was given. It never changes: a code is worth money
  address text NOT NULL,
  script bytea NOT NULL CHECK (length(script) BETWEEN 1 AND 520),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- the code that the customer named; what the order pays for it is in its quote
ALTER TABLE service.orders ADD referral text REFERENCES service.referrals;
CREATE INDEX orders_referral ON service.orders (referral) WHERE referral IS NOT NULL;
