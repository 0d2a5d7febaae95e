-- How the last audit of all orders ended (docs/orders.md, "Audit"): every process tells, one audits.

CREATE TABLE service.orders_audit (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  ended_at timestamptz NOT NULL DEFAULT now(),
  -- that it took
  seconds double precision NOT NULL CHECK (seconds >= 0),
  orders integer NOT NULL CHECK (orders >= 0),
  -- orders whose ledger is not what the chain and the index have
  differing integer NOT NULL CHECK (differing BETWEEN 0 AND orders)
);
