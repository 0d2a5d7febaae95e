import { type IndexedBranch, indexedBranches } from '../branches.ts';

/** The end of a range of indices for each branch that hands out indices. The end is not in the range. */
export type BranchEnds = Readonly<Record<IndexedBranch, number>>;

/** Ends of all branches, from the name of each. */
export const endsBy = (endOf: (branch: IndexedBranch) => number): BranchEnds => ({
  orders: endOf('orders'),
  own: endOf('own'),
  fees: endOf('fees'),
});

/** One index as the end of all branches. */
export const endsAt = (index: number): BranchEnds => endsBy(() => index);

/**
 * Indices that one release has: more than one process uses in a minute of creations, or ten orders with 100 parents.
 */
export const releasedAtOnce = 1000;
/**
 * More indices are released when this many are left. An order takes at most 101, and the row is read twice a second.
 */
const refilledAt = 500;
/**
 * End of the indices that are released. Keys that an xpub derives end at 2^31; the rest is a reserve for an operator
 * who skips too far.
 */
export const indexEnd = 2_000_000_000;

/** The higher end of each branch. */
export const highestOf = (first: BranchEnds, ...others: readonly BranchEnds[]): BranchEnds =>
  endsBy((branch) => Math.max(first[branch], ...others.map((ends) => ends[branch])));

/** Whether each end is at least the other's. */
export const covers = (ends: BranchEnds, others: BranchEnds): boolean =>
  indexedBranches.every((branch) => ends[branch] >= others[branch]);

/** Ends that are later by a number of indices, up to the last index. */
export const movedBy = (ends: BranchEnds, indices: number): BranchEnds =>
  endsBy((branch) => Math.min(ends[branch] + indices, indexEnd));

/** The end to which indices are released next; the same ends if enough are left. */
export const refilled = (next: BranchEnds, released: BranchEnds): BranchEnds => {
  const more = movedBy(released, releasedAtOnce);
  return endsBy((branch) => (released[branch] - next[branch] > refilledAt ? released[branch] : more[branch]));
};

/**
 * The first indices of a start: after all that the database or the mark says were ever released. Released indices that
 * were not handed out are given up: the database may be an older copy, and they may have been handed out since.
 */
export const startAfter = (
  mark: BranchEnds | null,
  { next, released }: { readonly next: BranchEnds; readonly released: BranchEnds },
): BranchEnds => highestOf(next, released, mark ?? next);
