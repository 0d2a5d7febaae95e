-- A key belongs to its client (docs/orders.md, "Once and only once"): another one with the same key makes a creation of
-- its own. Older keys have no owner, and answer no request.

ALTER TABLE service.idempotency_keys ADD COLUMN owner text NOT NULL DEFAULT '';
ALTER TABLE service.idempotency_keys ALTER COLUMN owner DROP DEFAULT;
ALTER TABLE service.idempotency_keys DROP CONSTRAINT idempotency_keys_pkey;
ALTER TABLE service.idempotency_keys ADD PRIMARY KEY (route, owner, key);
