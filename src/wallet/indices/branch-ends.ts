import { type IndexedBranch, indexedBranches } from '../branches.ts';

/** An index of each branch that hands out indices: the end of a range, which is not in it. */
export type BranchEnds = Readonly<Record<IndexedBranch, number>>;

/** The same for each branch: its end by its name. */
export const endsBy = (endOf: (branch: IndexedBranch) => number): BranchEnds => ({
  orders: endOf('orders'),
  own: endOf('own'),
  fees: endOf('fees'),
});

/** One index as the end of all branches. */
export const endsAt = (index: number): BranchEnds => endsBy(() => index);

/**
 * Indices that are released at once: more than a minute of creations of one process, or ten orders with 100 parents.
 */
export const releasedAtOnce = 1000;
/** Indices left at which more are released. An order takes at most 101, and the row is read twice a second. */
const refilledAt = 500;
/** Keys that an xpub derives end at 2^31; what is left there is for a person who moves on too far. */
export const indexEnd = 2_000_000_000;

/** The higher end of each branch. */
export const highestOf = (first: BranchEnds, ...others: readonly BranchEnds[]): BranchEnds =>
  endsBy((branch) => Math.max(first[branch], ...others.map((ends) => ends[branch])));

/** Whether no branch of the other ends is higher. */
export const covers = (ends: BranchEnds, others: BranchEnds): boolean =>
  indexedBranches.every((branch) => ends[branch] >= others[branch]);

/** Ends that are later by a number of indices, as far as there are any. */
export const movedBy = (ends: BranchEnds, indices: number): BranchEnds =>
  endsBy((branch) => Math.min(ends[branch] + indices, indexEnd));

/** The end to which more is released; the same ends where enough is left. */
export const refilled = (next: BranchEnds, released: BranchEnds): BranchEnds => {
  const more = movedBy(released, releasedAtOnce);
  return endsBy((branch) => (released[branch] - next[branch] > refilledAt ? released[branch] : more[branch]));
};

/**
 * The first indices of a start: beyond everything that the database or the mark says was ever released. Released
 * indices that were not handed out are given up: the database may be an older one, and they may have been handed out
 * since.
 */
export const startAfter = (
  mark: BranchEnds | null,
  { next, released }: { readonly next: BranchEnds; readonly released: BranchEnds },
): BranchEnds => highestOf(next, released, mark ?? next);
