-- Sats of the inventory of failed orders (docs/orders.md, "States and what an order holds"): they are released after a day.

-- since when its order is in the state `error`; null: it is not
ALTER TABLE service.reserved_outputs ADD failed_at timestamptz;
-- these were kept for ever: each is looked at once, and released a day later
UPDATE service.orders SET look_at = now()
 WHERE state = 'error' AND EXISTS (SELECT FROM service.reserved_outputs WHERE order_id = orders.id AND released_at IS NULL);
