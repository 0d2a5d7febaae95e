-- Up to this time all payments are known: what a block or the node's mempool had by then is in the tables. Null: not known yet.
-- Orders of shops end by it, and not by the clock: one that was paid while nothing followed payments is not over.
ALTER TABLE service.payments_offset ADD complete_at timestamptz;
