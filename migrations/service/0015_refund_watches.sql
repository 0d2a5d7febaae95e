-- Transactions of orders whose outputs are watched until they lie deep (docs/orders.md, "What is watched").

CREATE INDEX order_transactions_watched ON service.order_transactions (order_id)
  WHERE height IS NULL AND kind NOT IN ('commit', 'reveal');
