import { AppError } from '#kernel/errors/app-error.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import { type MarkOwner, readMark } from '#wallet/indices/mark-file.ts';
import { skippedUsually } from '#wallet/indices/skip-indices.ts';

/** Indices beyond all that were shown: those that one process releases at once. */
const gapWithMark = 1000;

/** The mark of a wallet; null: there is none, or none that can be used. */
export const knownMark = (path: string, owner: MarkOwner): Promise<BranchEnds | null> =>
  readMark(path, owner).catch((error: unknown) => {
    // it is searched further without it
    if (error instanceof AppError && error.code === 'wallet_mark_refused') return null;
    throw error;
  });

/**
 * Indices that a service gives up before a skip without showing any: two hundred starts, each with what one process
 * releases. As many scans of the node as for none.
 */
const gapOfStarts = 200_000;

/** Indices to look at beyond all that are known to have been shown: more where no mark says which. */
export const usualGap = (isMarked: boolean): number =>
  isMarked ? gapWithMark : skippedUsually + gapOfStarts;
