-- Which indices of the wallet may be handed out (docs/wallet.md, "The high-water mark"). An older database that is
-- restored does not know what was handed out after it was dumped. So the process with the seed raises a mark outside the
-- database first, and then releases indices below it.
ALTER TABLE service.wallet
  -- indices from the next one to below these ends may be handed out, while the release counts
  ADD COLUMN released_order_end integer,
  ADD COLUMN released_own_end integer,
  -- the advisory lock that the releasing process holds: nobody holds it after a restore or a crash; null: none released
  ADD COLUMN release_session integer,
  -- of the table that the release was written to: a restore makes another one
  ADD COLUMN release_table oid,
  -- the error code that keeps the process with the seed from releasing any; null: none does
  ADD COLUMN release_problem text,
  -- whether a mark was ever made for this wallet: then a missing one is an error
  ADD COLUMN is_marked boolean NOT NULL DEFAULT false;

UPDATE service.wallet SET released_order_end = next_order_index, released_own_end = next_own_index;

ALTER TABLE service.wallet
  ALTER COLUMN released_order_end SET NOT NULL,
  ALTER COLUMN released_own_end SET NOT NULL,
  ADD CONSTRAINT wallet_orders_released CHECK (next_order_index <= released_order_end),
  ADD CONSTRAINT wallet_own_released CHECK (next_own_index <= released_own_end);

-- Rows that are brought back into this very table do not bring back a release that still counts.
CREATE FUNCTION service.end_release() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.release_session := NULL;
  NEW.release_table := NULL;
  RETURN NEW;
END $$;

CREATE TRIGGER end_release BEFORE INSERT ON service.wallet
  FOR EACH ROW EXECUTE FUNCTION service.end_release();
-- also where a restore turns usual triggers off
ALTER TABLE service.wallet ENABLE ALWAYS TRIGGER end_release;
