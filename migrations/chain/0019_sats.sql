-- Sats (INDEX_SATS, docs/adr/0035-sats-from-genesis.md): a derived table of five, empty where the option is off. Ranges are packed:
-- 11 bytes each, 51 bits of the first sat and 33 of how many there are (src/kernel/sats/packed-ranges.ts).

-- One row an unspent output with a value, whether anybody can spend it or not. A spend deletes it: Bitcoin's whole history of
-- ranges would be ten times as large, and what undo needs of it is in spent_sats.
CREATE TABLE chain.sat_ranges (
  height integer NOT NULL,
  vout integer NOT NULL,
  txid bytea NOT NULL,
  -- in the order of the output's sats
  ranges bytea NOT NULL
);
-- packed ranges do not shrink
ALTER TABLE chain.sat_ranges ALTER COLUMN ranges SET STORAGE EXTERNAL;
-- a fifth of so many rows would be millions of dead ones before they are cleared away
ALTER TABLE chain.sat_ranges SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_insert_scale_factor = 0.02);
-- From an input to what it spends. Here and not among the secondary ones: the second block needs it already.
CREATE INDEX sat_ranges_outpoint ON chain.sat_ranges (chain.hash64(txid, vout));

-- The sat of each inscription that is bound to one.
CREATE TABLE chain.sats (
  sat bigint NOT NULL,
  key integer PRIMARY KEY
);

-- Where each sat lies that is not common: append-only, one row for each block that moved it. The last one counts.
CREATE TABLE chain.rare_sats (
  sat bigint NOT NULL,
  sat_offset bigint NOT NULL,
  height integer NOT NULL,
  vout integer NOT NULL,
  -- null: it is lost, and the offset is that in all lost sats
  txid bytea,
  PRIMARY KEY (sat, height)
);

-- What no output has: one row a block that left sats to nobody, or whose coinbase took the place of an earlier one (BIP 30).
CREATE TABLE chain.lost_sats (
  height integer PRIMARY KEY,
  -- of all blocks up to this one
  lost_sats bigint NOT NULL,
  -- of outputs that lost their place, up to this block: ord counts them nowhere
  replaced_sats bigint NOT NULL,
  -- what this block left
  ranges bytea NOT NULL
);
ALTER TABLE chain.lost_sats ALTER COLUMN ranges SET STORAGE EXTERNAL;

-- What the newest blocks spent of earlier ones (SATS_KEEP_BLOCKS), so that they can be taken back: of each output its txid, vout,
-- height, number of ranges (32-bit, little endian) and ranges. A block without a row cannot be taken back.
CREATE TABLE chain.spent_sats (
  height integer PRIMARY KEY,
  outputs bytea NOT NULL
);
ALTER TABLE chain.spent_sats ALTER COLUMN outputs SET STORAGE EXTERNAL;
