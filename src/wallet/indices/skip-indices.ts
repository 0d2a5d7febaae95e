import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { indexedBranches } from '../branches.ts';
import { walletMissing } from '../wallet.store.ts';
import { type BranchEnds, highestOf, indexEnd, movedBy, startAfter } from './branch-ends.ts';
import { type MarkOwner, readMark, writeMark } from './mark-file.ts';
import { lockMark, moveOn, readRelease } from './release.store.ts';

/**
 * Default number of indices to skip after all known ones. It is more than a service shows between two dumps, and still
 * few enough to search.
 */
export const skippedUsually = 1_000_000;

export interface SkipOptions {
  readonly markFile: string;
  readonly owner: MarkOwner;
  /** Number of indices to skip after those that are known from the database, the mark and `atLeast`. */
  readonly by: number;
  /** Ends of indices that are also known to be used. */
  readonly atLeast: BranchEnds;
}

/**
 * Moves the wallet to indices that were never shown, after raising the mark. Returns the first of these indices. If the
 * mark is missing or damaged, a new mark is written. The new indices then depend only on `by`, `atLeast` and the
 * database. A running process continues to release from there. Throws `wallet_mark_mismatch`, `wallet_mark_unwritable`
 * and `wallet_missing`.
 */
export function skipIndices(db: pg.Pool | pg.ClientBase, options: SkipOptions): Promise<BranchEnds> {
  return withTransaction(db, (tx) => skipWithin(tx, options));
}

/** Skips indices in a transaction of the caller, like `skipIndices`. The mark is on disk before the commit. */
export async function skipWithin(
  tx: pg.ClientBase,
  { markFile, owner, by, atLeast }: SkipOptions,
): Promise<BranchEnds> {
  const row = await readRelease(tx, { isLocked: true });
  if (row === null) throw walletMissing();
  await lockMark(tx);
  const mark = await readMark(markFile, owner).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'wallet_mark_refused') return null;
    throw error;
  });
  const known = startAfter(mark, row);
  const from = movedBy(highestOf(known, atLeast), by);
  if (indexedBranches.some((branch) => from[branch] >= indexEnd))
    throw new AppError(
      'wallet_indices_unreleased',
      `The wallet has no ${by} indices left beyond ${Math.max(...indexedBranches.map((branch) => known[branch]))}. A new wallet needs a new seed.`,
    );
  await writeMark(markFile, owner, from);
  await moveOn(tx, from);
  return from;
}
