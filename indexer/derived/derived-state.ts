import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHash, type BlockHash, displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { ActiveTable } from './derived-batch.ts';
import type { UndoneTables } from './derived-memories.ts';
import type { DerivedSettings, DerivedTable, UndoneOutpoints } from './derived-table.ts';

/** The state of a derived table. */
export interface DerivedState {
  readonly table: DerivedTable;
  /** The table has the rows of every indexed block from this height on. */
  readonly fromHeight: Height;
  /** True if the writer adds the rows of each block. */
  readonly isFollowed: boolean;
  /** True if the settings of the last indexing process include the table. Otherwise it is not filled. */
  readonly isWanted: boolean;
  /** The version of the rules by which its rows were made (`DerivedTable.rules`). */
  readonly rules: number;
  /**
   * True if the rows of all blocks are being rebuilt by these rules. Blocks up to the tip have new rows; later blocks
   * may have older rows.
   */
  readonly isRemade: boolean;
  /**
   * The last block with stored rows. Null if no block has rows yet. Valid only while the writer does not add rows, or
   * while rows are rebuilt.
   */
  readonly tip: BlockRef | null;
}

/** Whether a catch-up pass has blocks to process for the table. */
export function isBehind({ isFollowed, isRemade }: DerivedState): boolean {
  return !isFollowed || isRemade;
}

/** Whether the table has the rows of a block, by its current rules. */
export function hasRowsOf({ isFollowed, isRemade, tip }: DerivedState, height: Height): boolean {
  return (isFollowed && !isRemade) || (tip !== null && tip.height >= height);
}

interface StateRow {
  name: string;
  from_height: Height;
  is_followed: boolean;
  is_wanted: boolean;
  rules: number;
  is_remade: boolean;
  tip_height: Height | null;
  tip_hash: BlockHash | null;
}

const columns =
  'd.name, d.from_height, d.is_followed, d.is_wanted, d.rules, d.is_remade, d.tip_height, d.tip_hash';

/** States of the tables that the database has, in the order of the list. */
export async function readDerivedStates(
  client: pg.ClientBase,
  tables: readonly DerivedTable[],
): Promise<DerivedState[]> {
  const { rows } = await client.query<StateRow>(`SELECT ${columns} FROM chain.derived_tables d`);
  return statesOf(tables, rows);
}

/**
 * States of the tables, locked in a transaction that changes them, so an undo and a catch-up pass wait for each other.
 */
export async function lockDerivedStates(
  tx: pg.ClientBase,
  tables: readonly DerivedTable[],
): Promise<DerivedState[]> {
  const { rows } = await tx.query<StateRow>(
    `SELECT ${columns} FROM chain.derived_tables d ORDER BY d.name FOR UPDATE`,
  );
  return statesOf(tables, rows);
}

function statesOf(tables: readonly DerivedTable[], rows: readonly StateRow[]): DerivedState[] {
  // a table comes with its migration, and a program without that migration does not open the database
  for (const { name } of rows) {
    assert(
      tables.some((table) => table.name === name),
      `the program does not know the derived table ${name}`,
    );
  }
  return tables.flatMap((table) => {
    const row = rows.find(({ name }) => name === table.name);
    if (row === undefined) return [];
    const { from_height: fromHeight, is_followed: isFollowed, is_wanted: isWanted } = row;
    const { tip_height: height, tip_hash: hash, rules, is_remade: isRemade } = row;
    const tip =
      height === null || hash === null ? null : { height, hash: asBlockHash(Uint8Array.from(hash)) };
    return [{ table, fromHeight, isFollowed, isWanted, rules, isRemade, tip }];
  });
}

/** Tables that have rows of blocks above a height, if the chain has such blocks. */
export async function tablesAbove(
  client: pg.ClientBase,
  tables: readonly DerivedTable[],
  height: number,
): Promise<DerivedTable[]> {
  const states = await readDerivedStates(client, tables);
  return states
    .filter(
      ({ isFollowed, isRemade, tip }) => isFollowed || isRemade || (tip !== null && tip.height > height),
    )
    .map(({ table }) => table);
}

/** The tables whose rows the writer adds, and the epoch in which this is valid. */
export interface FollowedTables {
  readonly active: readonly ActiveTable[];
  /** Tables of the database that a catch-up pass fills. */
  readonly behind: readonly DerivedTable[];
  /** Tables whose rows are rebuilt, followed or not. */
  readonly remade: readonly DerivedTable[];
  /** `chain.state.derived_epoch`: it changes whenever the set of followed tables does. */
  readonly epoch: number;
}

/** Reads the tables and the epoch in one statement, so that they belong to the same moment. */
export async function readFollowed(
  client: pg.ClientBase,
  tables: readonly DerivedTable[],
): Promise<FollowedTables> {
  const { rows } = await client.query<StateRow & { epoch: number }>(
    `SELECT s.derived_epoch AS epoch, ${columns} FROM chain.state s LEFT JOIN chain.derived_tables d ON true`,
  );
  const states = statesOf(
    tables,
    rows.filter(({ name }) => name !== null),
  );
  return {
    active: states.filter(({ isFollowed }) => isFollowed),
    behind: states.filter(({ isFollowed }) => !isFollowed).map(({ table }) => table),
    remade: states.filter(({ isRemade }) => isRemade).map(({ table }) => table),
    epoch: rows[0]?.epoch ?? 0,
  };
}

/** New state of a table, from the settings and the chain. */
interface Claim {
  readonly table: DerivedTable;
  /** Whether the writer adds the table's rows from now on. Null: the table no longer has a state. */
  readonly isFollowed: boolean | null;
  readonly isWanted: boolean;
  readonly rules: number;
  /** Last block with rows. Used only while the writer does not add rows. */
  readonly tip: BlockRef | null;
}

/** The version of a table's rules in this program. */
function rulesOf({ rules }: DerivedTable): number {
  return rules?.version ?? 1;
}

/** The new state of a table in an empty index. Null if it does not change. */
function claimFirst(table: DerivedTable, state: DerivedState | undefined, isWanted: boolean): Claim | null {
  const rules = rulesOf(table);
  const isSame = state?.isFollowed === true && state.rules === rules && !state.isRemade;
  if (isWanted) return isSame ? null : { table, isFollowed: true, isWanted, rules, tip: null };
  return state === undefined ? null : { table, isFollowed: null, isWanted, rules, tip: null };
}

/**
 * The new state of a table in an index with blocks. Throws the refusal of a table that cannot be added or dropped
 * later.
 */
function claimLater(
  table: DerivedTable,
  state: DerivedState | undefined,
  isWanted: boolean,
  chainTip: BlockRef,
): Claim | null {
  const refusal = isWanted === (state !== undefined) ? undefined : table.refusal?.(isWanted);
  if (refusal !== undefined) throw refusal;
  if (state === undefined)
    return isWanted ? { table, isFollowed: false, isWanted, rules: rulesOf(table), tip: null } : null;
  if (state.isWanted === isWanted) return null;
  const { rules, isFollowed, isRemade } = state;
  return { table, isFollowed: false, isWanted, rules, tip: isFollowed && !isRemade ? chainTip : state.tip };
}

/**
 * Whether the rows follow older rules. Throws if a newer program made the rows by rules that this program does not
 * know.
 */
function hasOtherRules({ table, rules }: DerivedState): boolean {
  const ours = rulesOf(table);
  if (rules <= ours) return rules < ours;
  const message = `The table ${table.name} has rows by version ${rules} of its rules, but this program knows only ${ours}.`;
  throw new AppError('database_newer', message, { table: table.name, rules });
}

/**
 * Brings the tables in line with the settings. Called in a transaction by the process that holds the writer's lock. In
 * an empty database the writer fills the wanted tables from the first block on. In a database with blocks, a catch-up
 * pass fills a new table, and an unwanted table keeps its state until it is wanted again. A rebuild begins if a wanted
 * table follows older rules. Throws the refusal of a table that cannot be added or dropped later, and `database_newer`
 * if a table follows rules that this program does not know.
 */
export async function claimDerivedTables(
  tx: pg.ClientBase,
  network: NetworkParameters,
  tables: readonly DerivedTable[],
  settings: DerivedSettings,
): Promise<void> {
  const states = await lockDerivedStates(tx, tables);
  const { rows } = await tx.query<{ height: Height | null; hash: BlockHash | null }>(
    'SELECT tip_height AS height, tip_hash AS hash FROM chain.state',
  );
  const { height = null, hash = null } = rows[0] ?? {};
  const chainTip = height === null || hash === null ? null : { height, hash };
  const claims = tables.flatMap((table) => {
    const state = states.find((each) => each.table === table);
    const isWanted = table.isWanted(settings);
    const claim =
      chainTip === null ? claimFirst(table, state, isWanted) : claimLater(table, state, isWanted, chainTip);
    return claim ?? [];
  });
  for (const claim of claims) await writeClaim(tx, network, claim);
  const older = states.filter(
    (state) => chainTip !== null && state.table.isWanted(settings) && hasOtherRules(state),
  );
  for (const { table } of older) await beginRebuild(tx, table);
  if (claims.length + older.length === 0) return;
  await tx.query('UPDATE chain.state SET derived_epoch = derived_epoch + 1');
}

/**
 * Begins to rebuild the rows of a table by this program's rules. A catch-up pass then replaces the rows block by block.
 * Its events have no hashes until then.
 *
 * @param tx transaction in which the states are locked
 */
async function beginRebuild(tx: pg.ClientBase, table: DerivedTable): Promise<void> {
  // waits for a batch that is being committed, and makes the next batch wait, because its events would keep their old
  // text
  await tx.query('SELECT FROM chain.state FOR UPDATE');
  await tx.query(
    `UPDATE chain.derived_tables SET rules = $2, is_remade = true, tip_height = NULL, tip_hash = NULL,
       problem_code = NULL, problem_message = NULL, problem_since = NULL
     WHERE name = $1`,
    [table.name, rulesOf(table)],
  );
  if (table.eventKind === undefined) return;
  const kind = [table.eventKind.number];
  await tx.query('DELETE FROM chain.event_hashes WHERE kind = $1', kind);
  await tx.query('UPDATE chain.outbox_texts SET events = NULL WHERE kind = $1 AND events IS NOT NULL', kind);
}

/** Result of `remakeTable`. */
export type RemakeStart = 'begun' | 'resumed' | 'absent';

/**
 * Begins to rebuild the rows of a table, whatever the version of its rules, or resumes a rebuild by the same rules. May
 * run while a writer works: its next batch is then prepared again. `absent`: the database does not have the table.
 * Throws `database_newer` if the table follows rules that this program does not know.
 */
export async function remakeTable(
  tx: pg.ClientBase,
  tables: readonly DerivedTable[],
  table: DerivedTable,
): Promise<RemakeStart> {
  assert(table.rules !== undefined, `the rules of ${table.name} never change`);
  const states = await lockDerivedStates(tx, tables);
  const state = states.find((each) => each.table === table);
  if (state === undefined) return 'absent';
  if (!hasOtherRules(state) && state.isRemade) return 'resumed';
  await beginRebuild(tx, table);
  await tx.query('UPDATE chain.state SET derived_epoch = derived_epoch + 1');
  return 'begun';
}

async function writeClaim(
  tx: pg.ClientBase,
  network: NetworkParameters,
  { table, isFollowed, isWanted, rules, tip }: Claim,
): Promise<void> {
  if (isFollowed === null) {
    await tx.query('DELETE FROM chain.derived_tables WHERE name = $1', [table.name]);
    return;
  }
  await tx.query(
    `INSERT INTO chain.derived_tables AS d (name, from_height, is_followed, is_wanted, tip_height, tip_hash, rules)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (name) DO UPDATE SET is_followed = excluded.is_followed, is_wanted = excluded.is_wanted, tip_height = excluded.tip_height,
       tip_hash = excluded.tip_hash, rules = excluded.rules, is_remade = d.is_remade AND NOT excluded.is_followed,
       problem_code = NULL, problem_message = NULL, problem_since = NULL`,
    [
      table.name,
      table.firstHeight(network),
      isFollowed,
      isWanted,
      tip?.height ?? null,
      tip?.hash ?? null,
      rules,
    ],
  );
  await table.create?.(tx, network);
}

/**
 * Undoes the block at the tip of the chain in all derived tables that have it. Runs in the transaction that takes back
 * the block, before the block's own rows are deleted.
 *
 * @param below the block before it; null: there is no such block
 * @returns changes for the memories of tables after the commit
 */
export async function undoDerived(
  tx: pg.ClientBase,
  tables: readonly DerivedTable[],
  ref: BlockRef,
  firstKey: number,
  below: BlockRef | null,
): Promise<UndoneTables> {
  const undone = new Map<DerivedTable, UndoneOutpoints>();
  const states = await lockDerivedStates(tx, tables);
  for (const { table, fromHeight, isFollowed, isRemade, tip } of states) {
    const isAtTip = tip !== null && tip.height >= ref.height;
    if (isAtTip) {
      const isSame = tip.height === ref.height && Buffer.compare(tip.hash, ref.hash) === 0;
      assert(isSame, `${table.name} has the block ${displayHash(tip.hash)}, which is not on the chain`);
    }
    // a table that is rebuilt has rows above its tip
    if (isFollowed || isRemade ? ref.height < fromHeight : !isAtTip) continue;
    const outpoints = await table.undo(tx, { ref, firstKey });
    if (outpoints !== undefined) undone.set(table, outpoints);
    if (!isAtTip) continue;
    const left = below !== null && below.height >= fromHeight ? below : null;
    await moveDerivedTips(tx, [table], left);
  }
  return undone;
}

/**
 * Sets the last block of some tables' rows, in the transaction that writes or takes back rows. Clears the stored
 * problem of these tables.
 */
export async function moveDerivedTips(
  tx: pg.ClientBase,
  tables: readonly DerivedTable[],
  tip: BlockRef | null,
): Promise<void> {
  const { rowCount } = await tx.query(
    `UPDATE chain.derived_tables SET tip_height = $2, tip_hash = $3,
       problem_code = NULL, problem_message = NULL, problem_since = NULL
     WHERE name = ANY($1) AND (NOT is_followed OR is_remade)`,
    [tables.map(({ name }) => name), tip?.height ?? null, tip === null ? null : Buffer.from(tip.hash)],
  );
  assert(rowCount === tables.length, 'a derived table whose tip moves is not there');
}
