import { type IndexedBranch, indexedBranches } from '../branches.ts';

/** The end of a range of indices, for each branch that hands out indices. The end itself is not in the range. */
export type BranchEnds = Readonly<Record<IndexedBranch, number>>;

/** Ends of all branches, computed from the name of each branch. */
export const endsBy = (endOf: (branch: IndexedBranch) => number): BranchEnds => ({
  orders: endOf('orders'),
  own: endOf('own'),
  fees: endOf('fees'),
});

/** The same index as the end of all branches. */
export const endsAt = (index: number): BranchEnds => endsBy(() => index);

/**
 * Number of indices in one release: more than one process uses in a minute of creations, or for ten orders with 100
 * parents.
 */
export const releasedAtOnce = 1000;
/**
 * More indices are released if this number or fewer are left. An order takes at most 101, and the row is read twice per
 * second.
 */
const refilledAt = 500;
/**
 * End of the indices that can be released. Keys that an xpub derives end at 2^31; the rest is a reserve for an operator
 * who skips too many.
 */
export const indexEnd = 2_000_000_000;

/** For each branch, the highest of the given ends. */
export const highestOf = (first: BranchEnds, ...others: readonly BranchEnds[]): BranchEnds =>
  endsBy((branch) => Math.max(first[branch], ...others.map((ends) => ends[branch])));

/** Whether each end in `ends` is at least the end in `others`. */
export const covers = (ends: BranchEnds, others: BranchEnds): boolean =>
  indexedBranches.every((branch) => ends[branch] >= others[branch]);

/** Ends that are higher by a number of indices, up to the end of all indices. */
export const movedBy = (ends: BranchEnds, indices: number): BranchEnds =>
  endsBy((branch) => Math.min(ends[branch] + indices, indexEnd));

/** The end up to which indices are released next. It stays the same if enough indices are left. */
export const refilled = (next: BranchEnds, released: BranchEnds): BranchEnds => {
  const more = movedBy(released, releasedAtOnce);
  return endsBy((branch) => (released[branch] - next[branch] > refilledAt ? released[branch] : more[branch]));
};

/**
 * The first indices after a start: higher than all indices that the database or the mark knows as released. Released
 * indices that were not handed out are given up. The database may be an older copy, so these indices may have been
 * handed out since.
 */
export const startAfter = (
  mark: BranchEnds | null,
  { next, released }: { readonly next: BranchEnds; readonly released: BranchEnds },
): BranchEnds => highestOf(next, released, mark ?? next);
