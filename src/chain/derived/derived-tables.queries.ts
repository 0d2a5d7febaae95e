import type { ClientBase, Pool } from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';

/** The progress of a derived table (docs/adr/0017-derived-tables.md). */
export interface DerivedTableReport {
  readonly name: string;
  /** The height from which on the table covers every indexed block. */
  readonly fromHeight: Height;
  /** True if the table is complete and gets each new block as soon as it is indexed. */
  readonly isComplete: boolean;
  /**
   * True if the rows of the table are being rebuilt by new rules. Until then, rows of blocks above `tip` may follow the
   * old rules.
   */
  readonly isRemade: boolean;
  /** The last block that the table covers, or the last rebuilt block. `null` if there is no such block. */
  readonly tip: BlockRef | null;
  /** Why the table cannot continue. `null` if it can. */
  readonly problem: { readonly code: string; readonly message: string; readonly since: Date } | null;
}

interface Row {
  name: string;
  from_height: Height;
  is_followed: boolean;
  is_remade: boolean;
  tip_height: Height | null;
  tip_hash: BlockHash | null;
  problem_code: string | null;
  problem_message: string | null;
  problem_since: Date | null;
}

/** The derived tables that the settings request, by name. */
export async function derivedTableReports(client: ClientBase): Promise<DerivedTableReport[]> {
  const { rows } = await client.query<Row>(
    `SELECT d.name, d.from_height, d.is_followed, d.is_remade,
       CASE WHEN d.is_followed AND NOT d.is_remade THEN s.tip_height ELSE d.tip_height END AS tip_height,
       CASE WHEN d.is_followed AND NOT d.is_remade THEN s.tip_hash ELSE d.tip_hash END AS tip_hash,
       d.problem_code, d.problem_message, d.problem_since
     FROM chain.derived_tables d, chain.state s WHERE d.is_wanted ORDER BY d.name`,
  );
  return rows.map(reportOf);
}

function reportOf(row: Row): DerivedTableReport {
  const { name, from_height: fromHeight, is_followed: isFollowed, is_remade: isRemade } = row;
  const { tip_height: height, tip_hash: hash } = row;
  const { problem_code: code, problem_message: message, problem_since: since } = row;
  return {
    name,
    fromHeight,
    isComplete: isFollowed && !isRemade,
    isRemade: isFollowed && isRemade,
    tip: height === null || hash === null ? null : { height, hash },
    problem: code === null || message === null || since === null ? null : { code, message, since },
  };
}

/** Whether a derived table covers every indexed block. False if no block is indexed. */
export async function isComplete(client: ClientBase, name: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM chain.derived_tables d, chain.state s
     WHERE d.name = $1 AND d.is_followed AND s.tip_height IS NOT NULL`,
    [name],
  );
  return rowCount === 1;
}

/** Names of derived tables that the settings request, and that lack rows of indexed blocks. */
export async function tablesBehind(client: ClientBase): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT name FROM chain.derived_tables WHERE is_wanted AND NOT is_followed',
  );
  return new Set(rows.map(({ name }) => name));
}

/** Whether a derived table covers the block at a height by its current rules. False if there is no such block. */
export async function hasBlock(client: ClientBase, name: string, height: Height): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM chain.derived_tables d JOIN chain.blocks b ON b.height = $2
     WHERE d.name = $1 AND d.from_height <= $2 AND ((d.is_followed AND NOT d.is_remade) OR d.tip_height >= $2)`,
    [name, height],
  );
  return rowCount === 1;
}

/** Whether the settings omit a derived table. False for every table while the index has no blocks. */
export async function isLeftOut(client: ClientBase | Pool, name: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT WHERE EXISTS (SELECT FROM chain.state WHERE tip_height IS NOT NULL)
       AND NOT EXISTS (SELECT FROM chain.derived_tables d WHERE d.name = $1 AND d.is_wanted)`,
    [name],
  );
  return rowCount === 1;
}

interface Behind {
  /** The last height that the table covers. `null` if it covers none. */
  readonly reached: Height | null;
  readonly tip: Height | null;
  /** False if the settings omit the table, so that it is not filled. */
  readonly isWanted: boolean;
  readonly message: string;
}

/** The progress of a derived table. `null` if the table is complete, or does not exist. */
async function readBehind(client: ClientBase | Pool, name: string): Promise<Behind | null> {
  const { rows } = await client.query<Omit<Behind, 'message'>>(
    `SELECT d.tip_height AS reached, s.tip_height AS tip, d.is_wanted AS "isWanted"
     FROM chain.derived_tables d, chain.state s WHERE d.name = $1 AND NOT d.is_followed`,
    [name],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { reached, tip, isWanted } = row;
  const standing = isWanted ? 'is being filled' : 'is left out by the settings';
  const message =
    reached === null
      ? `The table ${name} ${standing}. It has no block yet; the tip is ${tip}.`
      : `The table ${name} ${standing}. It has reached height ${reached} of ${tip}.`;
  return { reached, tip, isWanted, message };
}

/** Why a derived table lacks indexed blocks, in words, with the height it has reached. `null` if it lacks none. */
export async function whyBehind(client: ClientBase | Pool, name: string): Promise<string | null> {
  return (await readBehind(client, name))?.message ?? null;
}

/**
 * Why events of a derived table are not available by a version of its rules, in words: its rows are being rebuilt, or
 * another process has not begun the rebuild. `null` if they are available.
 */
export async function whyOtherRules(
  client: ClientBase | Pool,
  name: string,
  version: number,
): Promise<string | null> {
  const { rows } = await client.query<{ rules: number; reached: Height | null; tip: Height | null }>(
    `SELECT d.rules, d.tip_height AS reached, s.tip_height AS tip FROM chain.derived_tables d, chain.state s
     WHERE d.name = $1 AND (d.is_remade OR d.rules <> $2)`,
    [name, version],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { rules, reached, tip } = row;
  if (rules !== version)
    return `The table ${name} has rows by version ${rules} of its rules, but version ${version} is needed.`;
  return reached === null
    ? `The table ${name} is being rebuilt by version ${rules} of its rules. It has no block yet; the tip is ${tip}.`
    : `The table ${name} is being rebuilt by version ${rules} of its rules. It has reached height ${reached} of ${tip}.`;
}

/**
 * Guards responses that come from one derived table. Throws `derived_table_behind`, with the height that the table has
 * reached, while the table is being filled. Returns if the table is complete, or if the settings omit it.
 */
export async function requireNotBehind(client: ClientBase, name: string): Promise<void> {
  const behind = await readBehind(client, name);
  if (behind?.isWanted !== true) return;
  const { reached, tip, message } = behind;
  throw new AppError('derived_table_behind', message, { table: name, height: reached, tipHeight: tip });
}

/** The state of the index that rows of derived tables belong to. */
export interface DerivedMoment {
  /** Changes when a derived table is rebuilt. */
  readonly epoch: number;
  /** Hash of the block at the requested height. `null` if there is no such block. */
  readonly hash: Buffer | null;
}

/** Reads the epoch and the hash in one statement. */
export async function derivedMoment(client: ClientBase, height: number): Promise<DerivedMoment> {
  const { rows } = await client.query<DerivedMoment>(
    `SELECT s.derived_epoch AS epoch, (SELECT hash FROM chain.blocks WHERE height = $1) AS hash FROM chain.state s`,
    [height],
  );
  return rows[0] ?? { epoch: 0, hash: null };
}
