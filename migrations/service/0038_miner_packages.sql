-- Reveals that a miner takes directly, each with its commit (docs/miner.md). A reveal is only ever added here with its order's
-- transactions, so earlier orders have none.
CREATE TABLE service.miner_packages (
  reveal bytea PRIMARY KEY REFERENCES service.wallet_transactions,
  commit_txid bytea NOT NULL REFERENCES service.wallet_transactions CHECK (commit_txid <> reveal),
  order_id uuid NOT NULL REFERENCES service.orders ON DELETE CASCADE,
  made_at timestamptz NOT NULL DEFAULT now(),
  -- NONSTANDARD_MINER_HOURS when it was made
  hours integer NOT NULL CHECK (hours > 0),
  -- until when the miner may answer, then until when a block must have the reveal
  mined_until timestamptz NOT NULL,
  -- when it is sent next; null: it is answered, or given up
  ask_at timestamptz DEFAULT now(),
  tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  -- why the last try had no answer
  silence text,
  accepted_at timestamptz,
  refused_at timestamptz,
  -- why the miner refused it
  refusal text,
  given_up_at timestamptz,
  -- a block had the reveal when its order was looked at last
  was_mined boolean NOT NULL DEFAULT false,
  CHECK (accepted_at IS NULL OR refused_at IS NULL),
  CHECK ((refused_at IS NULL) = (refusal IS NULL)),
  CHECK (ask_at IS NULL OR (accepted_at IS NULL AND refused_at IS NULL AND given_up_at IS NULL))
);
CREATE INDEX miner_packages_commit ON service.miner_packages (commit_txid);
CREATE INDEX miner_packages_order ON service.miner_packages (order_id);
CREATE INDEX miner_packages_due ON service.miner_packages (ask_at) WHERE ask_at IS NOT NULL;
