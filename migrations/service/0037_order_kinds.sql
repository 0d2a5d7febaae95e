-- Managed orders (docs/orders.md, "Managed orders").

ALTER TABLE service.orders
  DROP CONSTRAINT orders_kind_check,
  ADD CONSTRAINT orders_kind_check CHECK (kind IN ('direct', 'bulk'));
