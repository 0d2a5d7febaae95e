-- The operator wants an order paid back whose transactions the node does not take: the process with the node decides.
ALTER TABLE service.orders
  ADD refund_asked_at timestamptz,
  -- Where to; the order's own refund_script stays as it is while the wish is not granted.
  ADD refund_asked_script bytea,
  ADD CHECK ((refund_asked_at IS NULL) = (refund_asked_script IS NULL));
CREATE INDEX orders_refund_asked ON service.orders (refund_asked_at) WHERE refund_asked_at IS NOT NULL;
