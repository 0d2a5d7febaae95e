import type { ClientBase } from 'pg';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type U128, u128OfText } from '#kernel/runes/u128.ts';
import { newestBurn, newestMints, ofRune } from './rune.queries.ts';

/** A script that holds a rune. */
export interface RuneHolder {
  /**
   * The script. A script of up to 128 bytes is complete. A longer script is represented by its first 97 bytes and its
   * sha256.
   */
  readonly script: Uint8Array;
  readonly amount: U128;
  /** Number of unspent outputs with the rune. */
  readonly outputs: number;
}

/** The sums over all holders of a rune. */
export interface HolderSums {
  readonly count: number;
  readonly held: U128;
}

/** The block after which the holders of a rune are listed. */
export interface HoldersMoment {
  readonly height: Height;
  /** True if the height is that of the tip. Then no later block can have spent outputs. */
  readonly isTip: boolean;
}

interface HolderRow {
  script: Buffer;
  amount: string;
  outputs: number;
}

/**
 * Prepares a transaction for scans over the holders of a rune. At the tip, these scans use an index in the order of
 * holders, and do not read the table. Throws `index_missing` during a first sync. Postgres cancels a scan that takes
 * too long (57014); later statements of the snapshot then fail.
 */
export async function beginHolderWalks(client: ClientBase): Promise<void> {
  const names = ['rune_balances_holder', 'rune_balances_spends', 'rune_mints_rune'];
  await requireIndexes(client, names, 'holders of runes');
  await client.query(`${inOrder}; SET LOCAL statement_timeout = ${walkMs}`);
}

/** Reads all holders of a rune to compute their sums. */
export async function holderSums(
  client: ClientBase,
  key: number,
  { height, isTip }: HoldersMoment,
): Promise<HolderSums> {
  const { rows } = await client.query<{ count: number; held: string }>(
    `SELECT count(DISTINCT script) AS count, coalesce(sum(amount), 0)::text AS held FROM (${heldAt(isTip)}) AS there`,
    [key, height],
  );
  return { count: rows[0]?.count ?? 0, held: u128OfText(rows[0]?.held ?? '0') };
}

/** Reads all holders of a rune. Returns the holders from a position on, largest first. */
export async function holdersFrom(
  client: ClientBase,
  key: number,
  { height, isTip }: HoldersMoment,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<RuneHolder[]> {
  // convert amounts to texts in the outer query; the inner query would convert the amounts of all holders
  const { rows } = await client.query<HolderRow>(
    `SELECT script, amount::text, outputs FROM (
       SELECT script, chain.total(amount) AS amount, count(*) AS outputs FROM (${heldAt(isTip)}) AS there
       GROUP BY script ORDER BY chain.total(amount) DESC, script LIMIT $3 OFFSET $4
     ) AS part ORDER BY part.amount DESC, script`,
    [key, height, limit, offset],
  );
  return rows.map(({ script, amount, outputs }) => ({ script, amount: u128OfText(amount), outputs }));
}

/**
 * How long a scan may take, in ms. At the tip, 200,000 holders take 100 ms. Longer scans would delay responses about
 * other runes.
 */
const walkMs = 10_000;

/**
 * SQL: makes Postgres read in the order of the index. Otherwise it would use a hash table of all holders, which does
 * not fit in the memory of a statement.
 */
const inOrder = 'SET LOCAL enable_hashagg = off';

const unspent = `SELECT script, amount FROM chain.rune_balances
  WHERE rune_key = $1 AND spent_height IS NULL AND height <= $2`;
/** SQL: balances that have been spent since the block, so they were unspent after it. */
const spentSince = `SELECT script, amount FROM chain.rune_balances
  WHERE rune_key = $1 AND spent_height > $2 AND height <= $2`;

const heldAt = (isTip: boolean): string => (isTip ? unspent : `${unspent} UNION ALL ${spentSince}`);

/** Mints and burned units of a rune, up to a height. */
export async function runeTotals(
  client: ClientBase,
  key: number,
  height: Height,
): Promise<{ mints: number; burned: U128 }> {
  const { rows } = await client.query<{ mints: number | null; burned: string | null }>(
    `SELECT
       (SELECT mints FROM chain.rune_mints WHERE ${ofRune('$1')} AND height <= $2 ${newestMints}) AS mints,
       (SELECT total::text FROM chain.rune_burns WHERE ${ofRune('$1')} AND height <= $2 ${newestBurn}) AS burned`,
    [key, height],
  );
  return { mints: rows[0]?.mints ?? 0, burned: u128OfText(rows[0]?.burned ?? '0') };
}
