import type { ClientBase } from 'pg';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type U128, u128OfText } from '#kernel/runes/u128.ts';
import { newestOfRune, ofRune } from './rune.queries.ts';

/** A script that holds a rune. */
export interface RuneHolder {
  /** Whole up to 128 bytes; a longer one is its first 97 bytes and its sha256. */
  readonly script: Uint8Array;
  readonly amount: U128;
  /** Unspent outputs with the rune. */
  readonly outputs: number;
}

/** Holders of a rune, and the sums over all of them. */
export interface RuneHolders {
  readonly holders: readonly RuneHolder[];
  readonly count: number;
  readonly held: U128;
}

interface HolderRow {
  script: Buffer;
  amount: string;
  outputs: number;
}

export interface HoldersQuestion {
  readonly height: Height;
  /** The height is that of the tip: nothing is spent above it. */
  readonly isTip: boolean;
  readonly offset: number;
  readonly limit: number;
}

/**
 * The holders of a rune after the block at `height`, the largest first, from position `offset` on. Every holder is
 * walked. At the tip this is an index in the order of holders, read twice without the table: once for the sums over
 * all, and once for the page. Throws `index_missing` during a first sync; Postgres ends a walk that takes too long
 * (57014), and the statements of the snapshot after it.
 */
export async function runeHolders(
  client: ClientBase,
  key: number,
  { height, isTip, offset, limit }: HoldersQuestion,
): Promise<RuneHolders> {
  const names = ['rune_balances_holder', 'rune_balances_rune_spent', 'rune_mints_rune'];
  await requireIndexes(client, names, 'holders of runes');
  await client.query(`${inOrder}; SET LOCAL statement_timeout = ${walkMs}`);
  const there = isTip ? unspent : `${unspent} UNION ALL ${spentSince}`;
  const { rows: sums } = await client.query<{ count: number; held: string }>(
    `SELECT count(DISTINCT script) AS count, coalesce(sum(amount), 0)::text AS held FROM (${there}) AS there`,
    [key, height],
  );
  const { rows } = await client.query<HolderRow>(
    `SELECT script, sum(amount)::text AS amount, count(*) AS outputs FROM (${there}) AS there
     GROUP BY script ORDER BY sum(amount) DESC, script LIMIT $3 OFFSET $4`,
    [key, height, limit, offset],
  );
  return {
    holders: rows.map(({ script, amount, outputs }) => ({ script, amount: u128OfText(amount), outputs })),
    count: sums[0]?.count ?? 0,
    held: u128OfText(sums[0]?.held ?? '0'),
  };
}

/** 200,000 holders take 150 ms at the tip. Longer walks would keep the holders of other runes from being answered. */
const walkMs = 10_000;

/** The index has the holders in their order: a table of hashes of all of them would not fit the memory of a statement. */
const inOrder = 'SET LOCAL enable_hashagg = off';

const unspent = `SELECT script, amount FROM chain.rune_balances
  WHERE rune_key = $1 AND spent_height IS NULL AND height <= $2`;
/** What was there then. */
const spentSince = `SELECT script, amount FROM chain.rune_balances
  WHERE rune_key = $1 AND spent_height > $2 AND height <= $2`;

/** How often a rune was minted, and how much of it was burned, up to a height. */
export async function runeTotals(
  client: ClientBase,
  key: number,
  height: Height,
): Promise<{ mints: number; burned: U128 }> {
  const { rows } = await client.query<{ mints: number | null; burned: string | null }>(
    `SELECT
       (SELECT mints FROM chain.rune_mints WHERE ${ofRune('$1')} AND height <= $2 ${newestOfRune}) AS mints,
       (SELECT total::text FROM chain.rune_burns WHERE ${ofRune('$1')} AND height <= $2 ${newestOfRune}) AS burned`,
    [key, height],
  );
  return { mints: rows[0]?.mints ?? 0, burned: u128OfText(rows[0]?.burned ?? '0') };
}
