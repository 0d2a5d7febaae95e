import type pg from 'pg';
import type { RuneEntry } from '#indexer/ledger/runes/rune-entry.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asRune } from '#kernel/runes/rune.ts';
import { asU128, type U128 } from '#kernel/runes/u128.ts';
import type { RuneStore } from './rune-store.ts';

/** The tables of runes in a database, in the form that a RuneStore has. */
type RuneTables = Pick<RuneStore, 'runes' | 'balances' | 'mints' | 'burned'>;

const u128 = (text: string): U128 => asU128(BigInt(text));
const orNull = (text: string | null): U128 | null => (text === null ? null : u128(text));

interface EntryRow {
  key: number;
  height: number;
  tx_index: number;
  txid: Buffer;
  rune: string;
  spacers: number;
  divisibility: number;
  symbol: number | null;
  turbo: boolean;
  timestamp: number;
  premine: string;
  has_terms: boolean;
  amount: string | null;
  cap: string | null;
  height_start: string | null;
  height_end: string | null;
  offset_start: string | null;
  offset_end: string | null;
}

function entryOf(row: EntryRow): RuneEntry {
  const terms = {
    amount: orNull(row.amount),
    cap: orNull(row.cap),
    heightStart: orNull(row.height_start),
    heightEnd: orNull(row.height_end),
    offsetStart: orNull(row.offset_start),
    offsetEnd: orNull(row.offset_end),
  };
  return {
    key: row.key,
    block: asHeight(row.height),
    tx: row.tx_index,
    etching: asTxid(Uint8Array.from(row.txid)),
    rune: asRune(BigInt(row.rune)),
    spacers: row.spacers,
    divisibility: row.divisibility,
    symbol: row.symbol,
    premine: u128(row.premine),
    terms: row.has_terms ? terms : null,
    turbo: row.turbo,
    timestamp: row.timestamp,
  };
}

/** Reads all rows of the tables, in the order of the chain. */
export async function readRuneTables(pool: pg.Pool): Promise<RuneTables> {
  const entries = await pool.query<EntryRow>(
    `SELECT key, height, tx_index, txid, rune::text, spacers, divisibility, symbol, turbo, timestamp, premine::text,
       has_terms, amount::text, cap::text, height_start::text, height_end::text, offset_start::text, offset_end::text
     FROM chain.runes ORDER BY key`,
  );
  const balances = await pool.query<{
    outpoint: string;
    key: number;
    amount: string;
    height: number;
    spent_height: number | null;
  }>(
    `SELECT encode(txid, 'hex') || encode(decode(lpad(to_hex(vout), 8, '0'), 'hex'), 'hex') AS outpoint,
       rune_key AS key, amount::text, height, spent_height
     FROM chain.rune_balances ORDER BY height, tx_index, vout, rune_key`,
  );
  const mints = await pool.query<{ key: number; height: number; value: number }>(
    `SELECT rune_key AS key, height, (mints - cardinality(tx_indexes) + place)::integer AS value
     FROM chain.rune_mints, unnest(tx_indexes) WITH ORDINALITY AS mint(tx_index, place) ORDER BY height, tx_index`,
  );
  const burned = await pool.query<{ key: number; height: number; value: string }>(
    'SELECT rune_key AS key, height, total::text AS value FROM chain.rune_burns ORDER BY height, tx_index, rune_key',
  );
  return {
    runes: entries.rows.map(entryOf),
    balances: balances.rows.map(({ outpoint, amount, spent_height: spentHeight, ...row }) => ({
      ...row,
      outpoint: littleEndianIndex(outpoint),
      amount: u128(amount),
      spentHeight,
    })),
    mints: mints.rows.map(({ value, ...row }) => ({ ...row, value: asU128(value) })),
    burned: burned.rows.map(({ value, ...row }) => ({ ...row, value: u128(value) })),
  };
}

/** The index of the output, as in a transaction. */
function littleEndianIndex(outpoint: string): string {
  const bytes = Buffer.from(outpoint, 'hex');
  bytes.subarray(32).reverse();
  return bytes.toString('hex');
}

/** Converts a store into the form of its tables. */
export const tablesOfStore = ({ runes, balances, mints, burned }: RuneStore): RuneTables => ({
  runes: runes.map((entry) => ({ ...entry, etching: asTxid(Uint8Array.from(entry.etching)) })),
  balances,
  mints,
  burned,
});
