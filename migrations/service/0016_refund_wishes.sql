-- The operator wants an order paid back whose transactions the node does not take: the process with the node decides.
ALTER TABLE service.orders ADD refund_asked_at timestamptz;
CREATE INDEX orders_refund_asked ON service.orders (refund_asked_at) WHERE refund_asked_at IS NOT NULL;
