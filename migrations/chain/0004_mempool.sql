-- What the node holds that no block has yet, as far as it matters here (docs/mempool.md). Written by the process that follows
-- the mempool, read by all. Unlogged: a crash of the server empties these tables, and the follower fills them again.
-- Rows of a transaction stay for some blocks after it was mined: readers see them only while its block is not indexed.

CREATE UNLOGGED TABLE chain.mempool_state (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- grows with every change of the tables below, and over restarts
  revision bigint NOT NULL,
  -- loading, following, waiting
  state text NOT NULL,
  -- zmq, polling
  source text NOT NULL,
  -- transactions in the node's mempool; those that are kept here; those that matter and found no room
  transactions integer NOT NULL,
  kept integer NOT NULL,
  left_out integer NOT NULL,
  kept_bytes bigint NOT NULL,
  problem text,
  since timestamptz NOT NULL,
  -- written with every change, and every few seconds without one
  updated_at timestamptz NOT NULL
);

CREATE UNLOGGED TABLE chain.mempool_transactions (
  txid bytea PRIMARY KEY CHECK (length(txid) = 32),
  -- ascends in the order in which they came to be known here; never used again
  position bigint NOT NULL UNIQUE,
  first_seen timestamptz NOT NULL,
  -- sats; null: the node did not say
  fee bigint,
  vsize integer NOT NULL,
  -- txids of those whose inputs it took over, 32 bytes each
  replaces bytea NOT NULL,
  -- the block that it was mined in
  block_height integer,
  block_hash bytea CHECK (length(block_hash) = 32),
  CHECK ((block_height IS NULL) = (block_hash IS NULL))
);

-- Pending reveals. The columns are those of chain.contents, chain.metadata_texts and chain.inscription_details.
CREATE UNLOGGED TABLE chain.mempool_inscriptions (
  position bigint NOT NULL,
  index integer NOT NULL,
  txid bytea NOT NULL,
  input integer NOT NULL,
  content_type bytea,
  sha256 bytea,
  variant smallint,
  text smallint,
  body bytea,
  folded bytea,
  decoded_sha256 bytea,
  decoded_length integer,
  metadata_json bytea,
  metadata_folded bytea,
  content_encoding bytea,
  metaprotocol bytea,
  delegate bytea CHECK (length(delegate) = 36),
  claimed_parents bytea,
  -- where it will lie, as in mempool_transfers
  place smallint NOT NULL,
  vout integer,
  sat_offset bigint,
  value bigint,
  script bytea,
  PRIMARY KEY (position, index),
  UNIQUE (txid, index)
);
ALTER TABLE chain.mempool_inscriptions ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE chain.mempool_inscriptions ALTER COLUMN folded SET STORAGE EXTERNAL;
CREATE INDEX mempool_inscriptions_sha256 ON chain.mempool_inscriptions (sha256);
CREATE INDEX mempool_inscriptions_decoded ON chain.mempool_inscriptions (decoded_sha256);

-- Inscriptions, indexed or pending ones, that a pending transaction moves.
CREATE UNLOGGED TABLE chain.mempool_transfers (
  position bigint NOT NULL,
  inscription_txid bytea NOT NULL,
  inscription_index integer NOT NULL,
  txid bytea NOT NULL,
  from_txid bytea NOT NULL,
  from_vout integer NOT NULL,
  from_offset bigint NOT NULL,
  from_script bytea,
  -- 0 an output, 1 the fee, 2 unbound, 3 not known: the values of inputs before it are not
  place smallint NOT NULL,
  vout integer,
  sat_offset bigint,
  value bigint,
  -- cut as in chain.locations
  script bytea,
  PRIMARY KEY (position, inscription_txid, inscription_index)
);
CREATE INDEX mempool_transfers_inscription ON chain.mempool_transfers (inscription_txid, inscription_index);

-- How kept transactions left, newest last; a bounded number of them.
CREATE UNLOGGED TABLE chain.mempool_departures (
  position bigint PRIMARY KEY,
  txid bytea NOT NULL,
  -- replaced, evicted
  reason text NOT NULL,
  -- null: evicted, or not known by what
  replaced_by bytea,
  left_at timestamptz NOT NULL
);
CREATE INDEX mempool_departures_txid ON chain.mempool_departures (txid);

-- What readers see, in any snapshot: nothing where nobody has followed for a minute, and no transaction both pending and
-- indexed, however far the follower of blocks and that of the mempool are apart.
CREATE VIEW chain.pending_state AS
  SELECT * FROM chain.mempool_state
   WHERE state = 'following' AND updated_at > now() - interval '60 seconds';

CREATE VIEW chain.pending_transactions AS
  SELECT t.* FROM chain.mempool_transactions AS t
   WHERE EXISTS (SELECT FROM chain.pending_state)
     AND NOT EXISTS (SELECT FROM chain.blocks AS b WHERE b.height = t.block_height AND b.hash = t.block_hash);

CREATE VIEW chain.pending_inscriptions AS
  SELECT i.*, t.first_seen, t.fee, t.vsize, t.replaces, t.block_height
    FROM chain.mempool_inscriptions AS i
    JOIN chain.pending_transactions AS t USING (position)
   WHERE NOT EXISTS (SELECT FROM chain.inscriptions AS x WHERE x.txid = i.txid AND x.index = i.index);

CREATE VIEW chain.pending_transfers AS
  SELECT m.*, t.first_seen, t.fee, t.vsize, t.replaces, t.block_height
    FROM chain.mempool_transfers AS m
    JOIN chain.pending_transactions AS t USING (position)
   WHERE NOT EXISTS (
     SELECT FROM chain.inscriptions AS x JOIN chain.locations AS l USING (key)
      WHERE x.txid = m.inscription_txid AND x.index = m.inscription_index AND l.txid = m.txid);
