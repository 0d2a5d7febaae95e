import { AppError } from '#kernel/errors/app-error.ts';
import { gapWithMark } from '#src/app/ordering/foreign-destination.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import { type MarkOwner, readMark } from '#wallet/indices/mark-file.ts';
import { skippedUsually } from '#wallet/indices/skip-indices.ts';

/** Reads the mark of a wallet. Returns `null` if there is no mark, or if it cannot be used. */
export const knownMark = (path: string, owner: MarkOwner): Promise<BranchEnds | null> =>
  readMark(path, owner).catch((error: unknown) => {
    // without a mark, more indices are searched
    if (error instanceof AppError && error.code === 'wallet_mark_refused') return null;
    throw error;
  });

/**
 * Number of indices that a service may release before a skip without showing any of them. It is enough for two hundred
 * starts, because each start may release as many as one process releases. The node needs no additional scans for them.
 */
const gapOfStarts = 200_000;

/**
 * Number of indices to search after the last index that is known to have been shown. It is larger if there is no mark.
 */
export const usualGap = (isMarked: boolean): number =>
  isMarked ? gapWithMark : skippedUsually + gapOfStarts;
