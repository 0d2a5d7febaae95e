-- Runes (INDEX_RUNES, docs/adr/0033-runes.md): a derived table of five, empty where the option is off. Rows are only added; what
-- an output holds is marked as spent. Amounts go up to 2^128 - 1: numeric(39).

-- What an etching made: it never changes. Keys are dense, in the order of etching: ord's number.
CREATE TABLE chain.runes (
  key integer PRIMARY KEY,
  -- the id: height and index of the transaction
  height integer NOT NULL,
  tx_index integer NOT NULL,
  spacers integer NOT NULL,
  -- a code point: U+0000 is legal, and no text may have it
  symbol integer,
  divisibility smallint NOT NULL,
  turbo boolean NOT NULL,
  -- false: nobody can mint it, and the six columns of its terms are null
  has_terms boolean NOT NULL,
  -- of the block, in seconds
  timestamp bigint NOT NULL,
  -- the name as a number
  rune numeric(39, 0) NOT NULL,
  premine numeric(39, 0) NOT NULL,
  amount numeric(39, 0),
  cap numeric(39, 0),
  height_start numeric(20, 0),
  height_end numeric(20, 0),
  offset_start numeric(20, 0),
  offset_end numeric(20, 0),
  -- of the etching; zeros for 1:0 of mainnet, which nobody etched
  txid bytea NOT NULL
);
-- Here and not among the secondary ones: the second block may ask for a name or an id.
CREATE UNIQUE INDEX runes_rune ON chain.runes (rune);
CREATE UNIQUE INDEX runes_id ON chain.runes (height, tx_index);

-- Append-only, one row an output and rune that it holds, never 0.
CREATE TABLE chain.rune_balances (
  height integer NOT NULL,
  -- height of the block that spends the output, and the transaction in it; going back empties both again
  spent_height integer,
  spent_tx_index integer,
  tx_index integer NOT NULL,
  vout integer NOT NULL,
  rune_key integer NOT NULL,
  amount numeric(39, 0) NOT NULL,
  txid bytea NOT NULL,
  -- whole up to 128 bytes; a longer one is its first 97 bytes and its sha256
  script bytea NOT NULL,
  PRIMARY KEY (height, tx_index, vout, rune_key)
);
-- a fifth of so many rows would be millions of dead ones before they are cleared away
ALTER TABLE chain.rune_balances SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.02);
-- from an input to what it spends
CREATE INDEX rune_balances_outpoint ON chain.rune_balances (chain.hash64(txid, vout)) WHERE spent_height IS NULL;

-- A mint each. The last row of a rune up to a height has how often it was minted by then.
CREATE TABLE chain.rune_mints (
  rune_key integer NOT NULL,
  height integer NOT NULL,
  tx_index integer NOT NULL,
  -- this mint counted
  mints integer NOT NULL,
  -- null: the transaction has a row in rune_balances or rune_burns, as it has unless the mint gives 0
  txid bytea,
  PRIMARY KEY (rune_key, height, tx_index)
);

-- What a transaction burned of a rune. The last row of a rune up to a height has the total by then.
CREATE TABLE chain.rune_burns (
  rune_key integer NOT NULL,
  height integer NOT NULL,
  tx_index integer NOT NULL,
  amount numeric(39, 0) NOT NULL,
  -- this amount counted
  total numeric(39, 0) NOT NULL,
  txid bytea NOT NULL,
  PRIMARY KEY (rune_key, height, tx_index)
);

-- One row a block from the first rune height on.
CREATE TABLE chain.rune_blocks (
  height integer PRIMARY KEY,
  -- every block from the first rune height up to this one is known with the outputs that it spends; otherwise nothing of this
  -- block is in the tables above
  anchored boolean NOT NULL,
  -- the key of the next rune after this block: how many there are
  next_key integer NOT NULL
);
