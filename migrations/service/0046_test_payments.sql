-- Test payments: on test networks shops have their orders paid from a wallet for tests (docs/tokenpay.md, "Test payments").
CREATE TABLE service.test_payments (
  txid bytea PRIMARY KEY CHECK (length(txid) = 32),
  order_id uuid NOT NULL REFERENCES service.token_orders,
  -- whose budget it took
  account text NOT NULL REFERENCES service.accounts,
  made_at timestamptz NOT NULL,
  -- sats that left the wallet, with the fee
  sats bigint NOT NULL CHECK (sats >= 0),
  fee bigint NOT NULL CHECK (fee > 0),
  -- what it spends, and its outputs that are the wallet's again, with their runes
  spent jsonb NOT NULL,
  returned jsonb NOT NULL
);
CREATE INDEX test_payments_account ON service.test_payments (account, made_at);
CREATE INDEX test_payments_made_at ON service.test_payments (made_at);
CREATE INDEX test_payments_order ON service.test_payments (order_id, made_at);
