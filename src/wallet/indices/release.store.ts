import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { type BranchEnds, indexEnd } from './branch-ends.ts';

/** Indices of the wallet as the database has them. */
export interface StoredRelease {
  /** The first index of each branch that was never handed out. */
  readonly next: BranchEnds;
  readonly released: BranchEnds;
  /** The release that the row is of; null: none since it was put or brought back. */
  readonly session: number | null;
  /** Whether the process that released them is there, and wrote them to this table: then they may be handed out. */
  readonly isLive: boolean;
  readonly isMarked: boolean;
  readonly problem: ErrorCode | null;
}

interface Row {
  readonly next_orders: number;
  readonly next_own: number;
  readonly released_orders: number;
  readonly released_own: number;
  readonly release_session: number | null;
  readonly is_live: boolean;
  readonly is_marked: boolean;
  readonly release_problem: ErrorCode | null;
}

/**
 * SQL: whether a release of the wallet's row counts. A restore makes another table, or a row without a session; and no
 * connection holds the lock of a release that is older than a restart, or of another database. An array, which is made
 * once: a statement that waited for the row looks at the row again, and would find nothing in a joined function.
 */
const isLive = `(release_table = 'service.wallet'::regclass AND release_session = ANY (ARRAY(
  SELECT objid::bigint FROM pg_locks
   WHERE locktype = 'advisory' AND classid = ${advisoryLocks.walletRelease} AND objsubid = 2 AND granted
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))))`;

const columns = `next_order_index AS next_orders, next_own_index AS next_own, released_order_end AS released_orders,
  released_own_end AS released_own, release_session, coalesce(${isLive}, false) AS is_live, is_marked, release_problem`;

/** Null: there is no wallet. `isLocked`: nothing else changes it until the transaction ends. */
export async function readRelease(
  client: pg.Pool | pg.ClientBase,
  { isLocked = false } = {},
): Promise<StoredRelease | null> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.wallet${isLocked ? ' FOR UPDATE' : ''}`,
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    next: { orders: row.next_orders, own: row.next_own },
    released: { orders: row.released_orders, own: row.released_own },
    session: row.release_session,
    isLive: row.is_live,
    isMarked: row.is_marked,
    problem: row.release_problem,
  };
}

/** The number of a new release, which counts as long as this connection lives. */
export async function beginReleases(client: pg.ClientBase): Promise<number> {
  for (;;) {
    const session = randomInt(1, 2 ** 31);
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS taken', [
      advisoryLocks.walletRelease,
      session,
    ]);
    if (rows[0]?.taken === true) return session;
  }
}

/** Has transactions that raise the mark take turns, in all processes of the database, until the transaction ends. */
export async function lockMark(tx: pg.ClientBase): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.walletMark]);
}

/** Releases indices from `from` on to below `until`, which the mark covers; nothing below `from` is handed out. */
export async function startRelease(
  tx: pg.ClientBase,
  session: number,
  from: BranchEnds,
  until: BranchEnds,
): Promise<void> {
  await tx.query(
    `UPDATE service.wallet SET next_order_index = $2, next_own_index = $3, released_order_end = $4, released_own_end = $5,
        release_session = $1, release_table = 'service.wallet'::regclass, release_problem = NULL, is_marked = true`,
    [session, from.orders, from.own, until.orders, until.own],
  );
}

/** Releases further indices, which the mark covers. False: the row is no longer of this release. */
export async function extendRelease(
  client: pg.ClientBase,
  session: number,
  until: BranchEnds,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE service.wallet SET released_order_end = greatest(released_order_end, $2),
        released_own_end = greatest(released_own_end, $3), release_problem = NULL
      WHERE release_session = $1 AND release_table = 'service.wallet'::regclass`,
    [session, until.orders, until.own],
  );
  return rowCount === 1;
}

/** Hands out nothing below these ends any more. What is released beyond them stays so. */
export async function moveOn(tx: pg.ClientBase, from: BranchEnds): Promise<void> {
  await tx.query(
    `UPDATE service.wallet SET next_order_index = $1, next_own_index = $2, is_marked = true,
        released_order_end = greatest(released_order_end, $1), released_own_end = greatest(released_own_end, $2)`,
    [from.orders, from.own],
  );
}

/** Notes why the process with the seed releases nothing, for those who hand out. */
export async function putReleaseProblem(client: pg.ClientBase, problem: ErrorCode): Promise<void> {
  await client.query(
    'UPDATE service.wallet SET release_problem = $1 WHERE release_problem IS DISTINCT FROM $1',
    [problem],
  );
}

/** How many indices of each branch are taken. */
export type IndexCounts = BranchEnds;

/**
 * Takes indices that no one else gets: the first of each branch, which others follow without a gap. The row is locked
 * until the transaction ends, so it is short; after a rollback the next one gets them. Throws `wallet_missing`, and
 * `wallet_indices_unreleased` where the process with the seed has released fewer.
 */
export async function takeIndices(tx: pg.ClientBase, { orders, own }: IndexCounts): Promise<BranchEnds> {
  // prepared once on each connection: planning takes longer than the rest of it
  const { rows } = await tx.query<BranchEnds>({
    name: 'take indices',
    text: `UPDATE service.wallet SET next_order_index = next_order_index + $1, next_own_index = next_own_index + $2
      WHERE next_order_index + $1 <= released_order_end AND next_own_index + $2 <= released_own_end AND ${isLive}
      RETURNING next_order_index - $1 AS orders, next_own_index - $2 AS own`,
    values: [orders, own],
  });
  if (rows[0] !== undefined) return rows[0];
  throw unreleased(await readRelease(tx), { orders, own });
}

/** Never hands out indices of orders below this one any more, as far as they were released. */
export async function passOver(client: pg.Pool | pg.ClientBase, until: number): Promise<void> {
  await client.query(
    `UPDATE service.wallet SET next_order_index = $1
      WHERE next_order_index < $1 AND released_order_end >= $1 AND ${isLive}`,
    [until],
  );
}

function unreleased(release: StoredRelease | null, counts: IndexCounts): AppError {
  if (release === null) return new AppError('wallet_missing', 'The database has no wallet.');
  const { next, released, isLive: isReleasing, problem } = release;
  const because = ((): string => {
    if (problem !== null) return `the process with its seed releases none (${problem})`;
    if (!isReleasing) return 'no process with its seed has released any since it began';
    if (next.orders + counts.orders > indexEnd || next.own + counts.own > indexEnd)
      return 'they are all used: a new database needs a new seed';
    return 'more of them are just being released';
  })();
  return new AppError(
    'wallet_indices_unreleased',
    `no address can be shown now: the wallet has none that are released, because ${because}`,
    { next, released, problem },
  );
}
