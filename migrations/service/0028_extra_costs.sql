-- What an order costs to deliver beyond its quote, as its plan showed: a runestone that leads the runes of a parent home.
-- It waits until its coins pay for that, too (docs/adr/0065-coins-that-pay.md).

ALTER TABLE service.orders ADD COLUMN extra_cost bigint NOT NULL DEFAULT 0 CHECK (extra_cost >= 0);
