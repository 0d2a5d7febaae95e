-- What returns of parents and of other inscriptions cost the service (docs/orders.md, "What is returned").

CREATE TABLE service.return_costs (
  txid bytea PRIMARY KEY REFERENCES service.order_transactions,
  -- fees, and what holdings lacked, that no customer paid
  sats bigint NOT NULL CHECK (sats >= 0),
  -- the coin of the service that it spends, of another order or of none; null: revenue of its own order
  coin_txid bytea CHECK (length(coin_txid) = 32),
  coin_vout integer CHECK (coin_vout >= 0),
  made_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((coin_txid IS NULL) = (coin_vout IS NULL))
);
-- no bump and no other return spends such a coin
CREATE INDEX return_costs_coin ON service.return_costs (coin_txid, coin_vout) WHERE coin_txid IS NOT NULL;
CREATE INDEX return_costs_made_at ON service.return_costs (made_at);
