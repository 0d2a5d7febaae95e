-- What bumps cost since a time is asked for with each block (docs/orders.md, "Stuck transactions"): they are few among all transactions.

CREATE INDEX wallet_transactions_bumps_made ON service.wallet_transactions (made_at) WHERE kind = 'bump';
