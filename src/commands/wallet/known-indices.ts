import { AppError } from '#kernel/errors/app-error.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import { type MarkOwner, readMark } from '#wallet/indices/mark-file.ts';
import { skippedUsually } from '#wallet/indices/skip-indices.ts';

/** Indices searched after all shown ones: one process releases this many at once. */
const gapWithMark = 1000;

/** The mark of a wallet. Null: there is no mark, or none that can be used. */
export const knownMark = (path: string, owner: MarkOwner): Promise<BranchEnds | null> =>
  readMark(path, owner).catch((error: unknown) => {
    // without a mark the search continues further
    if (error instanceof AppError && error.code === 'wallet_mark_refused') return null;
    throw error;
  });

/**
 * Indices that a service may give up before a skip without showing any: two hundred starts, each with the indices that
 * one process releases. The node needs no more scans for them.
 */
const gapOfStarts = 200_000;

/** Indices to search after all that are known to have been shown: more if no mark names them. */
export const usualGap = (isMarked: boolean): number =>
  isMarked ? gapWithMark : skippedUsually + gapOfStarts;
