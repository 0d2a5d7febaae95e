-- Watches of keys, and their findings (docs/watches.md, docs/adr/0105-watches.md).

CREATE TABLE service.watches (
  id uuid PRIMARY KEY,
  key_id integer NOT NULL REFERENCES service.keys,
  kind text NOT NULL CHECK (kind IN ('search', 'sales', 'children', 'runes', 'receipts')),
  -- as the key asked
  condition jsonb NOT NULL CHECK (jsonb_typeof(condition) = 'object'),
  webhook_url text CHECK (length(webhook_url) BETWEEN 1 AND 4096),
  -- public key of the secret of the service from which its webhook secret is derived
  secret_key bytea CHECK (length(secret_key) = 32),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- last row of the outbox when it was made; only later blocks are matched
  since bigint NOT NULL CHECK (since >= 0),
  ended_at timestamptz,
  end_reason text CHECK (end_reason IN ('deleted', 'gone', 'revoked')),
  -- number of its newest change
  last_number bigint NOT NULL DEFAULT 0 CHECK (last_number >= 0),
  -- things that were ever found
  found bigint NOT NULL DEFAULT 0 CHECK (found >= 0),
  CHECK ((secret_key IS NULL) = (webhook_url IS NULL)),
  CHECK ((ended_at IS NULL) = (end_reason IS NULL))
);
CREATE INDEX watches_key ON service.watches (key_id, created_at, id);
CREATE INDEX watches_live ON service.watches (created_at, id) WHERE ended_at IS NULL;
CREATE INDEX watches_deleted ON service.watches (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE service.watch_findings (
  watch_id uuid NOT NULL REFERENCES service.watches ON DELETE CASCADE,
  -- what was found, as in `<txid>i0`
  thing text NOT NULL CHECK (length(thing) BETWEEN 1 AND 200),
  state text NOT NULL CHECK (state IN ('pending', 'confirmed', 'replaced', 'reorganised')),
  -- of the change that led to this state
  number bigint NOT NULL CHECK (number >= 1),
  -- the transaction that makes the thing
  txid bytea NOT NULL CHECK (length(txid) = 32),
  -- of `confirmed` and `reorganised`: its block
  height integer CHECK (height >= 0),
  block_hash bytea CHECK (length(block_hash) = 32),
  -- of `replaced`: the transaction that replaced it, where one is known
  replaced_by bytea CHECK (length(replaced_by) = 32),
  -- fields that its kind shows
  facts jsonb NOT NULL CHECK (jsonb_typeof(facts) = 'object'),
  first_seen timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (watch_id, thing),
  CHECK ((state IN ('confirmed', 'reorganised')) = (height IS NOT NULL) AND (height IS NULL) = (block_hash IS NULL)),
  CHECK (replaced_by IS NULL OR state = 'replaced')
);
CREATE UNIQUE INDEX watch_findings_number ON service.watch_findings (watch_id, number);
CREATE INDEX watch_findings_block ON service.watch_findings (block_hash) WHERE state = 'confirmed';
CREATE INDEX watch_findings_pending ON service.watch_findings (txid) WHERE state = 'pending';
CREATE INDEX watch_findings_changed ON service.watch_findings (changed_at);

-- How far watches were compared with the chain and the mempool.
CREATE TABLE service.watches_offset (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- identity of the index: the outbox of another index has other sequences
  index_identity text NOT NULL CHECK (length(index_identity) BETWEEN 1 AND 200),
  -- last row of the outbox
  sequence bigint NOT NULL CHECK (sequence >= 0),
  -- last block; -1: none, because the index never was at the tip of its source
  height integer NOT NULL CHECK (height >= -1),
  -- last position in the mempool's tables
  mempool_position bigint NOT NULL DEFAULT 0 CHECK (mempool_position >= 0),
  updated_at timestamptz NOT NULL DEFAULT now()
);
