-- A price is kept for some time (docs/orders.md, "How long a price holds").

-- the price is accepted for what completed the order until then; null: nothing has completed it
ALTER TABLE service.orders ADD price_kept_at timestamptz;
-- the last time that a late payment was asked for more; null: never
ALTER TABLE service.orders ADD repriced jsonb;
