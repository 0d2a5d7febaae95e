import { type IndexedBranch, indexedBranches } from '../branches.ts';

/** Ends of ranges of indices, one for each branch that hands out indices. The end itself is not in the range. */
export type BranchEnds = Readonly<Record<IndexedBranch, number>>;

/** Makes the ends of all branches with a function of the branch's name. */
export const endsBy = (endOf: (branch: IndexedBranch) => number): BranchEnds => ({
  orders: endOf('orders'),
  own: endOf('own'),
  fees: endOf('fees'),
});

/** Makes ends that are the same index for all branches. */
export const endsAt = (index: number): BranchEnds => endsBy(() => index);

/**
 * Number of indices in one release. One process uses fewer in a minute of new orders, or for ten orders with 100
 * parents each.
 */
export const releasedAtOnce = 1000;
/**
 * Number of remaining indices at or below which more are released. An order takes at most 101, and the row is read
 * twice per second.
 */
const refilledAt = 500;
/**
 * End of the indices that can be released. An xpub can derive keys up to 2^31. The rest is a reserve in case an
 * operator skips too many indices.
 */
export const indexEnd = 2_000_000_000;

/** The highest of the given ends, for each branch. */
export const highestOf = (first: BranchEnds, ...others: readonly BranchEnds[]): BranchEnds =>
  endsBy((branch) => Math.max(first[branch], ...others.map((ends) => ends[branch])));

/** Whether `ends` is at least `others` in each branch. */
export const covers = (ends: BranchEnds, others: BranchEnds): boolean =>
  indexedBranches.every((branch) => ends[branch] >= others[branch]);

/** Raises ends by a number of indices, up to the end of all indices. */
export const movedBy = (ends: BranchEnds, indices: number): BranchEnds =>
  endsBy((branch) => Math.min(ends[branch] + indices, indexEnd));

/** The ends up to which indices are released next. An end stays the same if enough indices of the branch are left. */
export const refilled = (next: BranchEnds, released: BranchEnds): BranchEnds => {
  const more = movedBy(released, releasedAtOnce);
  return endsBy((branch) => (released[branch] - next[branch] > refilledAt ? released[branch] : more[branch]));
};

/**
 * The first indices after a start. They are higher than all indices that are released according to the database or the
 * mark. Released indices that were not handed out are given up. The database may be an older copy, so these indices may
 * have been handed out after the copy.
 */
export const startAfter = (
  mark: BranchEnds | null,
  { next, released }: { readonly next: BranchEnds; readonly released: BranchEnds },
): BranchEnds => highestOf(next, released, mark ?? next);
