-- Leaves of orders that no one paid are deleted, and their files later (docs/orders.md, "Contents"). An order whose address commits to a leaf
-- keeps its hash: with the key of the order, it is enough to spend what comes later.

ALTER TABLE service.orders ADD COLUMN leaf_hash bytea CHECK (length(leaf_hash) = 32);
ALTER TABLE service.orders ADD COLUMN leaves_deleted_at timestamptz;
ALTER TABLE service.orders ADD COLUMN files_deleted_at timestamptz;
ALTER TABLE service.orders ADD CHECK (leaf_hash IS NULL OR leaves_deleted_at IS NOT NULL);

-- Orders whose leaves may be deleted next.
CREATE INDEX orders_leaves ON service.orders (expires_at)
  WHERE leaves_deleted_at IS NULL AND state IN ('expired', 'cancelled', 'waiting-refund', 'refunded');
-- Orders whose rows of files may be deleted next.
CREATE INDEX orders_unpaid_files ON service.orders (leaves_deleted_at)
  WHERE leaves_deleted_at IS NOT NULL AND files_deleted_at IS NULL;
