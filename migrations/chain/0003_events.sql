-- What every block did, for those who follow along (docs/events.md), and what the indexing process says of itself.

-- One row a block that was applied or taken back, written in its transaction. Append-only: going back adds rows.
-- Listeners of the channel `satscribe_outbox` are told of new ones.
CREATE TABLE chain.outbox (
  -- dense from 1 on, in the order of the transactions of the single writer
  sequence bigint PRIMARY KEY,
  height integer NOT NULL,
  block_hash bytea NOT NULL CHECK (length(block_hash) = 32),
  -- the row that this one takes back; null: the block was applied
  cancels bigint UNIQUE,
  -- inscription events of the block; 0 where it was taken back
  event_count integer NOT NULL,
  -- the canonical text of the block's events, deflated; null: not kept, it is made again from the tables as long as the block is there
  events bytea,
  written_at timestamptz NOT NULL DEFAULT now(),
  CHECK (cancels < sequence)
);
ALTER TABLE chain.outbox ALTER COLUMN events SET STORAGE EXTERNAL;
-- the row that an undo cancels
CREATE INDEX outbox_height ON chain.outbox (height);
-- the texts that are to be forgotten
CREATE INDEX outbox_kept ON chain.outbox (height) WHERE events IS NOT NULL;

-- The chains of hashes over the events of blocks, a chain a kind (0 inscriptions).
CREATE TABLE chain.event_hashes (
  kind smallint NOT NULL,
  height integer NOT NULL,
  -- version of the canonical text
  version smallint NOT NULL,
  -- sha256 of the block's canonical text
  sha256 bytea NOT NULL CHECK (length(sha256) = 32),
  -- sha256 of the cumulative hash before it and of `sha256`
  cumulative_sha256 bytea NOT NULL CHECK (length(cumulative_sha256) = 32),
  PRIMARY KEY (kind, height)
);

-- kernel/contracts/follower-status.ts. Lost in a crash of the server, and written again within seconds.
CREATE UNLOGGED TABLE chain.follower_status (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  state text NOT NULL,
  source text NOT NULL,
  source_height integer,
  source_hash bytea,
  problem_code text,
  problem_message text,
  problem_since timestamptz,
  updated_at timestamptz NOT NULL
);
