-- The branches of the wallet, each with its own indices (docs/wallet.md, "Keys and addresses"; ADR 73). What is released of
-- a branch, and by which process, is in the row that its indices are taken from.
CREATE TABLE service.wallet_branches (
  number smallint PRIMARY KEY,
  name text NOT NULL UNIQUE,
  script_type text NOT NULL,
  -- as Bitcoin Core imports it; null: the process with the seed has not written it yet
  descriptor text CHECK (descriptor LIKE CASE script_type WHEN 'p2tr' THEN 'tr(%' ELSE 'wpkh(%' END),
  -- the first index that was never taken
  next_index integer NOT NULL CHECK (next_index >= 0),
  -- indices from the next one to below this end may be taken, while the release counts
  released_end integer NOT NULL,
  -- the advisory lock that the releasing process holds: nobody holds it after a restore or a crash; null: none released
  release_session integer,
  -- of the table that the release was written to: a restore makes another one
  release_table oid,
  wallet boolean NOT NULL DEFAULT true REFERENCES service.wallet ON DELETE CASCADE,
  CONSTRAINT wallet_branches_known CHECK ((number, name, script_type) IN
    ((0, 'orders', 'p2tr'), (1, 'own', 'p2tr'), (2, 'inventory', 'p2tr'), (3, 'fees', 'p2wpkh'))),
  CONSTRAINT wallet_branches_released CHECK (next_index <= released_end),
  -- its addresses are shown again on purpose, and there are no others
  CONSTRAINT wallet_branches_inventory CHECK (name <> 'inventory' OR (next_index = 100 AND released_end = 100))
);

-- a release of the process that runs now does not count here: it begins again, beyond what it has released
INSERT INTO service.wallet_branches (number, name, script_type, next_index, released_end)
  SELECT branch.* FROM service.wallet, LATERAL (VALUES
    (0, 'orders', 'p2tr', next_order_index, released_order_end),
    (1, 'own', 'p2tr', next_own_index, released_own_end),
    (2, 'inventory', 'p2tr', 100, 100),
    (3, 'fees', 'p2wpkh', 0, 0)) AS branch;

-- Rows that are brought back into this very table do not bring back a release that still counts.
DROP TRIGGER end_release ON service.wallet;
CREATE TRIGGER end_release BEFORE INSERT ON service.wallet_branches
  FOR EACH ROW EXECUTE FUNCTION service.end_release();
-- also where a restore turns usual triggers off
ALTER TABLE service.wallet_branches ENABLE ALWAYS TRIGGER end_release;

CREATE OR REPLACE FUNCTION service.keep_wallet() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.network, NEW.account_xpub, NEW.master_fingerprint)
     IS DISTINCT FROM (OLD.network, OLD.account_xpub, OLD.master_fingerprint) THEN
    RAISE EXCEPTION 'the keys of a wallet do not change';
  END IF;
  RETURN NEW;
END $$;

-- Two orders with one key could be paid with each other's money. So no statement, by mistake or by intent, takes an
-- index back, or makes other addresses of a branch.
CREATE FUNCTION service.keep_wallet_branch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.next_index < OLD.next_index OR NEW.released_end < OLD.released_end THEN
    RAISE EXCEPTION 'an index of the wallet goes up alone';
  END IF;
  IF (NEW.number, NEW.name, NEW.script_type) IS DISTINCT FROM (OLD.number, OLD.name, OLD.script_type)
     OR NEW.descriptor IS DISTINCT FROM coalesce(OLD.descriptor, NEW.descriptor) THEN
    RAISE EXCEPTION 'a branch of the wallet does not change';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER keep_wallet_branch BEFORE UPDATE ON service.wallet_branches
  FOR EACH ROW EXECUTE FUNCTION service.keep_wallet_branch();

ALTER TABLE service.wallet
  DROP COLUMN next_order_index,
  DROP COLUMN next_own_index,
  DROP COLUMN released_order_end,
  DROP COLUMN released_own_end,
  DROP COLUMN release_session,
  DROP COLUMN release_table;
