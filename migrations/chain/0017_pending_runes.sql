-- What pending transactions would do to runes in the next block (docs/mempool.md). As the other tables of the mempool: written
-- by the process that follows it, unlogged, and filled anew.

-- One row for each amount that a transaction takes from an output, mints, gives to an output or burns.
CREATE UNLOGGED TABLE chain.mempool_runes (
  position bigint NOT NULL,
  -- of the output that gets units; of the output that units are taken from
  vout integer NOT NULL,
  -- 0 minted, 1 given to an output, 2 burned, 3 taken from an output
  step smallint NOT NULL,
  -- the output that units are taken from, where it is indexed; null: it is pending too
  from_height integer,
  from_tx_index integer,
  -- null: the rune is etched by a pending transaction
  rune_key integer,
  amount numeric(39, 0) NOT NULL,
  -- that etches the rune, where it is pending
  etched_by bytea CHECK (length(etched_by) = 32),
  -- of the output that units are taken from
  from_txid bytea CHECK (length(from_txid) = 32),
  -- of the output, as in chain.rune_balances
  script bytea,
  CHECK ((rune_key IS NULL) <> (etched_by IS NULL)),
  CHECK ((step = 3) = (from_txid IS NOT NULL)),
  CHECK ((step IN (1, 3)) = (script IS NOT NULL))
);
CREATE INDEX mempool_runes_position ON chain.mempool_runes (position);
CREATE INDEX mempool_runes_rune ON chain.mempool_runes (rune_key, position);
CREATE INDEX mempool_runes_script ON chain.mempool_runes (chain.hash32(script)) WHERE script IS NOT NULL;

-- Etchings, also those that would make no rune.
CREATE UNLOGGED TABLE chain.mempool_etchings (
  position bigint PRIMARY KEY,
  spacers integer NOT NULL,
  symbol integer,
  -- the lowest block in which its commitment counts; null: it has none in a block
  mature_height integer,
  divisibility smallint NOT NULL,
  -- open, taken, locked, reserved, uncommitted, immature, unknown
  state text NOT NULL,
  -- the name; null: it is given by the block and the place there
  rune numeric(39, 0),
  premine numeric(39, 0) NOT NULL
);
CREATE INDEX mempool_etchings_rune ON chain.mempool_etchings (rune);

-- The transactions of these rows that are not indexed: an indexed one has spent what it takes units from, or its outputs are
-- there.
CREATE VIEW chain.pending_rune_transactions AS
  SELECT t.* FROM chain.pending_transactions AS t
   WHERE NOT EXISTS (
     SELECT FROM chain.mempool_runes AS m WHERE m.position = t.position AND m.from_height IS NOT NULL AND NOT EXISTS (
       SELECT FROM chain.rune_balances AS b
        WHERE b.height = m.from_height AND b.tx_index = m.from_tx_index AND b.vout = m.vout AND b.rune_key = m.rune_key
          AND b.txid = m.from_txid AND b.spent_height IS NULL))
     AND NOT EXISTS (
     SELECT FROM chain.mempool_runes AS m JOIN chain.rune_balances AS b
         ON chain.hash64(b.txid, b.vout) = chain.hash64(t.txid, m.vout) AND b.txid = t.txid AND b.vout = m.vout
        AND b.spent_height IS NULL
      WHERE m.position = t.position AND m.step = 1);
