-- Burns of orders (docs/orders.md, "Burning"): a transaction after each reveal that sends its inscriptions to an OP_RETURN output.

ALTER TABLE service.order_transactions DROP CONSTRAINT order_transactions_kind_check,
  ADD CONSTRAINT order_transactions_kind_check CHECK (kind IN ('commit', 'reveal', 'burn', 'return', 'refund'));

-- only what pays back or sends home has outputs that are watched until they lie deep
DROP INDEX service.order_transactions_watched;
CREATE INDEX order_transactions_watched ON service.order_transactions (order_id)
  WHERE height IS NULL AND kind IN ('return', 'refund');
