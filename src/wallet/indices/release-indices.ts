import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { keepWorking } from '#kernel/pg/keep-working.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { pause } from '#kernel/retry.ts';
import { fillDescriptors } from '../wallet.store.ts';
import type { WalletIdentity } from '../wallet-identity.ts';
import { type BranchEnds, covers, movedBy, refilled, releasedAtOnce, startAfter } from './branch-ends.ts';
import { raiseMark, readMark } from './mark-file.ts';
import {
  beginReleases,
  extendRelease,
  lockMark,
  putReleaseProblem,
  readRelease,
  type StoredRelease,
  startRelease,
} from './release.store.ts';

export interface ReleaseOptions {
  /** Address of the database, with the role that owns its tables. */
  readonly url: string;
  readonly markFile: string;
  /** The wallet whose seed this process has. */
  readonly owner: WalletIdentity;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /**
   * Called with the problem that prevents this process from releasing indices. Called with null after the process has
   * released some.
   */
  readonly onProblem: (problem: AppError | null) => void;
}

/** How often the rows are read, in ms. The indices that are left at a refill are enough for seconds of new orders. */
const lookMs = 500;
/**
 * Maximum time of a round, in ms. A longer round must be waiting for a lost connection or a locked row, so it is
 * stopped and retried.
 */
const lookMaxMs = 30_000;
/**
 * How often a standby process raises its own mark, in ms. It may run on another machine, which has another mark file.
 */
const standbyLookMs = 5000;

/** The state of releasing indices in this process. */
export interface Releasing {
  /** Settles when some indices are released, or when the first try has failed. */
  readonly tried: Promise<void>;
  /** Settles when the signal is aborted. Rejects if a failure is not retried. */
  readonly ended: Promise<void>;
}

/**
 * Releases indices of the wallet, before other processes hand them out, until the signal is aborted. Only the process
 * that processes orders does this. The mark covers each range before the database has the range. Each start gives up
 * indices that were released but not handed out. The same happens if the database is restored while the process runs.
 */
export function releaseIndices(options: ReleaseOptions): Releasing {
  const tried = Promise.withResolvers<void>();
  const { signal, log } = options;
  const onProblem = withRecovery(options);
  const repeats = new Repeats();
  const reported: ReleaseOptions = {
    ...options,
    onProblem: (problem) => {
      if (problem !== null && repeats.isDue(problem.code))
        log.warn({ err: problem }, 'no more addresses are released');
      onProblem(problem);
    },
  };
  const ended = keepWorking(
    {
      signal,
      log,
      failing: 'no addresses are released, so no orders are accepted',
      onProblem: (problem) => {
        tried.resolve();
        onProblem(problem);
      },
    },
    async () => {
      const client = await connectClient(options.url, 'satscribe indices');
      // closes the connection, so that a stop does not wait for a query that hangs
      const cut = (): void => void client.end().catch(() => undefined);
      signal.addEventListener('abort', cut, { once: true });
      try {
        await release(client, reported, () => {
          tried.resolve();
          repeats.reset();
          onProblem(null);
        });
      } catch (error) {
        // the problem is stored, so that processes that hand out indices can tell the operator what to do
        if (error instanceof AppError && error.code.startsWith('wallet_mark_'))
          await putReleaseProblem(client, error.code);
        throw error;
      } finally {
        signal.removeEventListener('abort', cut);
        await client.end().catch(() => undefined);
      }
    },
  ).finally(() => tried.resolve());
  // callers may handle a rejection only at the end, and this avoids an unhandled rejection
  ended.catch(() => undefined);
  return { tried: tried.promise, ended };
}

/** Passes problems to the caller, and writes a line to the log when the last problem is solved. */
function withRecovery({ log, onProblem }: ReleaseOptions): ReleaseOptions['onProblem'] {
  let isFailing = false;
  return (problem) => {
    if (problem === null && isFailing) log.info('addresses are released again, and orders are accepted');
    isFailing = problem !== null;
    onProblem(problem);
  };
}

async function release(client: pg.Client, options: ReleaseOptions, onReleased: () => void): Promise<void> {
  const { signal } = options;
  const session = await beginReleases(client);
  /**
   * The first indices that were not handed out when the rows were last read. Null if the rows do not belong to this
   * release yet.
   */
  let known: BranchEnds | null = null;
  while (!signal.aborted) {
    const late = setTimeout(() => void client.end().catch(() => undefined), lookMaxMs);
    try {
      known = await look(client, session, known, options, onReleased);
    } finally {
      clearTimeout(late);
    }
    await pause(lookMs, signal);
  }
}

/**
 * Runs one round, which releases indices if needed. Returns the first indices that were not handed out, or null if
 * nothing is released.
 */
async function look(
  client: pg.Client,
  session: number,
  before: BranchEnds | null,
  options: ReleaseOptions,
  onReleased: () => void,
): Promise<BranchEnds | null> {
  let known = before;
  const row = await readRelease(client);
  if (known !== null && !isOurs(row, session, known)) {
    options.log.warn(
      'the wallet of the database has changed, because it was restored or skipped ahead; indices are skipped',
    );
    known = null;
  }
  // rows are missing only while a restore writes them
  if (row === null) return known;
  if (known === null) {
    const from = await start(client, session, options);
    if (from !== null) onReleased();
    return from;
  }
  await refill(client, session, row, options, onReleased);
  return row.next;
}

/** Whether the row belongs to this release, and the next indices are not lower than before. */
const isOurs = (row: StoredRelease | null, session: number, known: BranchEnds): boolean =>
  row !== null && row.session === session && row.isLive && covers(row.next, known);

/**
 * Skips all indices that the database or the mark knows, and releases the first range after them. Returns the start of
 * this range, or null if there is no wallet.
 */
function start(
  client: pg.Client,
  session: number,
  { markFile, owner }: ReleaseOptions,
): Promise<BranchEnds | null> {
  return withTransaction(client, async (tx) => {
    const row = await readRelease(tx, { isLocked: true });
    if (row === null) return null;
    await lockMark(tx);
    const mark = await readMark(markFile, owner);
    if (mark === null && row.isMarked) throw missing(markFile);
    const from = startAfter(mark, row);
    const until = movedBy(from, releasedAtOnce);
    await raiseMark(markFile, owner, until);
    failpoint('mark-raised');
    await fillDescriptors(tx, owner);
    await startRelease(tx, session, from, until);
    failpoint('indices-released');
    return from;
  });
}

/**
 * Releases more indices after half of a range is used. If the mark cannot be raised, the rest of the range can still be
 * handed out.
 */
async function refill(
  client: pg.Client,
  session: number,
  { next, released }: StoredRelease,
  { markFile, owner, onProblem }: ReleaseOptions,
  onReleased: () => void,
): Promise<void> {
  const until = refilled(next, released);
  if (covers(released, until)) return;
  try {
    await withTransaction(client, async (tx) => {
      await lockMark(tx);
      await raiseMark(markFile, owner, until);
    });
  } catch (error) {
    if (!(error instanceof AppError) || !error.code.startsWith('wallet_mark_')) throw error;
    await putReleaseProblem(client, error.code);
    onProblem(error);
    return;
  }
  failpoint('mark-raised');
  await extendRelease(client, session, until);
  failpoint('indices-released');
  onReleased();
}

const missing = (path: string): AppError =>
  new AppError(
    'wallet_mark_missing',
    `The mark file ${path} is missing, although this wallet had a mark file. Without it no one knows which addresses were shown after the backup of the database. Restore the mark file; if it is lost, run satscribe wallet skip.`,
    { path },
  );

/**
 * Raises the mark of this process to the indices that another process has released, until the signal is aborted. A
 * standby process on another machine has its own mark, and must continue where the other process ended. Never throws,
 * because a fault of the mark is reported later, when this process releases indices.
 */
export async function followReleases(
  readers: pg.Pool,
  { markFile, owner, signal }: Pick<ReleaseOptions, 'markFile' | 'owner' | 'signal'>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const row = await readRelease(readers);
      // if the release is live, the process that made it has compared the row with its own mark
      if (row?.isLive === true)
        await withTransaction(readers, async (tx) => {
          await lockMark(tx);
          await raiseMark(markFile, owner, row.released);
        });
    } catch {
      // the next round tries again
    }
    await pause(standbyLookMs, signal);
  }
}
