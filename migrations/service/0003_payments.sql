-- Payments seen (docs/payments.md): which scripts are watched, and what was seen of payments to them in the mempool and in blocks.

CREATE TABLE service.watched_scripts (
  -- what the outputs of orders have: 520 bytes are more than any of them, and few enough for an index
  script bytea NOT NULL CHECK (length(script) BETWEEN 1 AND 520),
  -- who asked for it, e.g. the kind and id of an order
  watcher text NOT NULL CHECK (length(watcher) BETWEEN 1 AND 200),
  -- blocks from this height on are looked at; never above the block behind the offset
  since_height integer NOT NULL CHECK (since_height >= 0),
  -- whether the process that follows payments knows of it
  picked_up boolean NOT NULL DEFAULT false,
  -- the next block below the offset that is still to be looked at for it; null: none
  next_height integer,
  PRIMARY KEY (script, watcher)
);
CREATE INDEX watched_scripts_of_watcher ON service.watched_scripts (watcher);
CREATE INDEX watched_scripts_new ON service.watched_scripts (script) WHERE NOT picked_up;
CREATE INDEX watched_scripts_to_scan ON service.watched_scripts (next_height) WHERE next_height IS NOT NULL;

-- Numbers of changes: one process writes them, so they are committed in their order.
CREATE SEQUENCE service.payment_changes AS bigint;

-- One row an output that pays a watched script. With a height: it is in that block. Without: it is in the mempool, or gone.
CREATE TABLE service.payments_seen (
  txid bytea NOT NULL CHECK (length(txid) = 32),
  vout integer NOT NULL CHECK (vout >= 0),
  script bytea NOT NULL,
  value bigint NOT NULL CHECK (value >= 0),
  -- when the node had it in its mempool; of a payment that was first seen in a block, the time of the block
  first_seen timestamptz NOT NULL,
  height integer CHECK (height >= 0),
  hash bytea CHECK (length(hash) = 32),
  -- the transaction that took an input of it, or of an unconfirmed transaction that it spends
  replaced_by bytea CHECK (length(replaced_by) = 32),
  -- since when it is in no block and not in the mempool; null: it is there
  gone_at timestamptz,
  -- grows with each change of the row
  change bigint NOT NULL DEFAULT nextval('service.payment_changes'),
  PRIMARY KEY (txid, vout),
  CHECK ((height IS NULL) = (hash IS NULL)),
  CHECK (gone_at IS NULL OR height IS NULL),
  CHECK (replaced_by IS NULL OR gone_at IS NOT NULL)
);
CREATE INDEX payments_seen_script ON service.payments_seen (script);
CREATE INDEX payments_seen_change ON service.payments_seen (change);
CREATE INDEX payments_seen_height ON service.payments_seen (height) WHERE height IS NOT NULL;
CREATE INDEX payments_seen_unconfirmed ON service.payments_seen (txid) WHERE height IS NULL;

-- What such a transaction spends, and what the unconfirmed ones spend that it stands on: who else takes one of them replaces it.
CREATE TABLE service.payment_inputs (
  txid bytea NOT NULL CHECK (length(txid) = 32),
  -- the transaction itself, or one that it stands on
  spender bytea NOT NULL CHECK (length(spender) = 32),
  -- 36 bytes each, as they stand in a transaction
  outpoints bytea NOT NULL CHECK (length(outpoints) % 36 = 0),
  PRIMARY KEY (txid, spender)
);

-- The last block that was looked at, and the number of scripts that are watched. No row: none was yet.
CREATE TABLE service.payments_offset (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  height integer NOT NULL CHECK (height >= 0),
  hash bytea NOT NULL CHECK (length(hash) = 32),
  scripts integer NOT NULL CHECK (scripts >= 0),
  updated_at timestamptz NOT NULL
);

-- The last blocks up to the offset: where the chain parted is found among them.
CREATE TABLE service.payment_blocks (
  height integer PRIMARY KEY CHECK (height >= 0),
  hash bytea NOT NULL CHECK (length(hash) = 32)
);
