-- A key has a list of scopes, and a rate over a span of its own (docs/access.md). Keys that are there keep theirs.

ALTER TABLE service.keys ADD COLUMN scopes text[];
UPDATE service.keys SET scopes = ARRAY[scope];
ALTER TABLE service.keys
  ALTER COLUMN scopes SET NOT NULL,
  ADD CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['search', 'orders', 'tokenpay', 'admin']),
  DROP COLUMN scope;

ALTER TABLE service.keys RENAME COLUMN rate_per_minute TO burst;
ALTER TABLE service.keys
  DROP CONSTRAINT keys_rate_per_minute_check,
  -- 0: no limit
  ADD CHECK (burst >= 0),
  ADD COLUMN per_seconds integer NOT NULL DEFAULT 60 CHECK (per_seconds > 0);
ALTER TABLE service.keys ALTER COLUMN per_seconds DROP DEFAULT;
