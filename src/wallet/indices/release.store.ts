import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { type IndexedBranch, indexedBranches } from '../branches.ts';
import { walletMissing } from '../wallet.store.ts';
import { type BranchEnds, endsBy, indexEnd } from './branch-ends.ts';

/** Indices of the wallet in the database. */
export interface StoredRelease {
  /** The first index of each branch that was never handed out. */
  readonly next: BranchEnds;
  readonly released: BranchEnds;
  /** The release of all branches. Null if nothing was released since the rows were written or restored. */
  readonly session: number | null;
  /**
   * Whether the process that released the indices is running, and wrote them to this table. Otherwise they may not be
   * handed out.
   */
  readonly isLive: boolean;
  readonly isMarked: boolean;
  readonly problem: ErrorCode | null;
}

interface Row {
  readonly name: IndexedBranch;
  readonly next_index: number;
  readonly released_end: number;
  readonly release_session: number | null;
  readonly is_live: boolean;
  readonly is_marked: boolean;
  readonly release_problem: ErrorCode | null;
}

/**
 * SQL: whether the release of a branch is valid. After a restore, the table is a different one, or the row has no
 * session. After a restart, or in another database, no connection holds the release's lock. The locks are an array that
 * is computed once. If a statement waits for the row, it reads the row again, and would then find no rows of a joined
 * function.
 */
const isLive = `(release_table = 'service.wallet_branches'::regclass AND release_session = ANY (ARRAY(
  SELECT objid::bigint FROM pg_locks
   WHERE locktype = 'advisory' AND classid = ${advisoryLocks.walletRelease} AND objsubid = 2 AND granted
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))))`;

/**
 * Reads the indices. Returns null if there is no wallet, or if rows are missing while a restore writes them. With
 * `isLocked`, nothing else can change the rows until the transaction ends.
 */
export async function readRelease(
  client: pg.Pool | pg.ClientBase,
  { isLocked = false } = {},
): Promise<StoredRelease | null> {
  const { rows } = await client.query<Row>(
    `SELECT name, next_index, released_end, release_session, coalesce(${isLive}, false) AS is_live, is_marked,
        release_problem
       FROM service.wallet_branches JOIN service.wallet ON one = wallet
      WHERE name <> 'inventory' ORDER BY number${isLocked ? ' FOR UPDATE' : ''}`,
  );
  const of = new Map(rows.map((row) => [row.name, row]));
  const [first] = rows;
  if (first === undefined || rows.length !== indexedBranches.length) return null;
  const isOne = rows.every((row) => row.release_session === first.release_session);
  return {
    next: endsBy((branch) => of.get(branch)?.next_index ?? indexEnd),
    released: endsBy((branch) => of.get(branch)?.released_end ?? indexEnd),
    session: isOne ? first.release_session : null,
    isLive: isOne && rows.every((row) => row.is_live),
    isMarked: first.is_marked,
    problem: first.release_problem,
  };
}

/** Starts a release and returns its number. The release is valid as long as this connection is open. */
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

/**
 * Locks the mark until the transaction ends. So only one transaction at a time raises the mark, in all processes of the
 * database.
 */
export async function lockMark(tx: pg.ClientBase): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.walletMark]);
}

/**
 * Releases indices from `from` up to, but not including, `until`. The mark must already cover these indices. Indices
 * below `from` are not handed out any more. The caller must have locked the rows.
 */
export async function startRelease(
  tx: pg.ClientBase,
  session: number,
  from: BranchEnds,
  until: BranchEnds,
): Promise<void> {
  await tx.query(
    `UPDATE service.wallet_branches AS branch SET next_index = first, released_end = ended, release_session = $4,
        release_table = 'service.wallet_branches'::regclass
       FROM unnest($1::text[], $2::integer[], $3::integer[]) AS given (of, first, ended)
      WHERE name = of`,
    [indexedBranches, listOf(from), listOf(until), session],
  );
  await tx.query('UPDATE service.wallet SET release_problem = NULL, is_marked = true');
}

const listOf = (ends: BranchEnds): readonly number[] => indexedBranches.map((branch) => ends[branch]);

/**
 * Releases further indices. The mark must already cover them. Returns false if the branches no longer belong to this
 * release.
 */
export async function extendRelease(
  client: pg.ClientBase,
  session: number,
  until: BranchEnds,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `WITH locked AS (
       SELECT number FROM service.wallet_branches
        WHERE release_session = $3 AND release_table = 'service.wallet_branches'::regclass ORDER BY number FOR UPDATE
     ), extended AS (
       UPDATE service.wallet_branches AS branch SET released_end = greatest(released_end, ended)
         FROM unnest($1::text[], $2::integer[]) AS given (of, ended), locked
        WHERE name = of AND branch.number = locked.number RETURNING name
     )
     UPDATE service.wallet SET release_problem = NULL WHERE (SELECT count(*) FROM extended) = cardinality($1)`,
    [indexedBranches, listOf(until), session],
  );
  return rowCount === 1;
}

/**
 * Stops handing out indices below these ends. The release also ends, so that no process hands out such indices from
 * memory. The process with the seed then starts another release. The caller must have locked the rows.
 */
export async function moveOn(tx: pg.ClientBase, from: BranchEnds): Promise<void> {
  await tx.query(
    `UPDATE service.wallet_branches SET next_index = first, released_end = greatest(released_end, first),
        release_session = NULL
       FROM unnest($1::text[], $2::integer[]) AS given (of, first) WHERE name = of`,
    [indexedBranches, listOf(from)],
  );
  await tx.query('UPDATE service.wallet SET is_marked = true');
}

/** Stores the reason why the process with the seed releases no indices. Processes that hand out indices read it. */
export async function putReleaseProblem(client: pg.ClientBase, problem: ErrorCode): Promise<void> {
  await client.query(
    'UPDATE service.wallet SET release_problem = $1 WHERE release_problem IS DISTINCT FROM $1',
    [problem],
  );
}

/** A range of indices of one branch that only one caller gets. It goes from `first` up to, but not including, `end`. */
export interface IndexLease {
  /** The release to which the range belongs. */
  readonly session: number;
  readonly first: number;
  readonly end: number;
}

/**
 * Takes `most` indices of a branch, or exactly `least` if fewer than `most` are released. Locks the row until the
 * transaction ends, so the transaction must be short. After a rollback, the next caller gets the same indices. Throws
 * `wallet_missing`, and `wallet_indices_unreleased` if the process with the seed has released fewer than `least`.
 */
export async function leaseIndices(
  client: pg.Pool | pg.ClientBase,
  branch: IndexedBranch,
  { least, most }: { readonly least: number; readonly most: number },
): Promise<IndexLease> {
  for (const count of new Set([most, least])) {
    const { rows } = await client.query<IndexLease>(
      `UPDATE service.wallet_branches SET next_index = next_index + $2
        WHERE name = $1 AND next_index + $2 <= released_end AND ${isLive}
        RETURNING release_session AS session, next_index - $2 AS first, next_index AS end`,
      [branch, count],
    );
    if (rows[0] !== undefined) return rows[0];
  }
  throw unreleased(await readRelease(client), branch, least);
}

/** Whether these branches belong to these releases, and all these releases are still valid. */
export async function areReleased(
  tx: pg.ClientBase,
  releases: readonly { readonly branch: IndexedBranch; readonly session: number }[],
): Promise<boolean> {
  // the statement is prepared once on each connection, because planning takes longer than the rest of the statement
  const { rowCount } = await tx.query({
    name: 'are released',
    text: `SELECT FROM service.wallet_branches
       JOIN unnest($1::text[], $2::integer[]) AS given (branch, session) ON name = branch AND release_session = session
      WHERE ${isLive}`,
    values: [releases.map(({ branch }) => branch), releases.map(({ session }) => session)],
  });
  return rowCount === releases.length;
}

function unreleased(release: StoredRelease | null, branch: IndexedBranch, count: number): AppError {
  if (release === null) return walletMissing();
  const { next, released, isLive: isReleasing, problem } = release;
  const because = ((): string => {
    if (problem !== null) return `the process with its seed releases no addresses (${problem})`;
    if (!isReleasing) return 'no running process with its seed has released addresses yet';
    if (next[branch] + count > indexEnd) return 'all addresses are used; a new database needs a new seed';
    return 'more addresses are being released';
  })();
  return new AppError(
    'wallet_indices_unreleased',
    `no address of the wallet can be shown now, because ${because}`,
    { next, released, problem },
  );
}
