/** An index of each branch that hands out indices: the end of a range, which is not in it. */
export interface BranchEnds {
  /** Branch 0: keys of orders and deposits. */
  readonly orders: number;
  /** Branch 1: outputs of the service's own. */
  readonly own: number;
}

/**
 * Indices that are released at once: more than a minute of creations of one process, or ten orders with 100 parents.
 */
export const releasedAtOnce = 1000;
/** Indices left at which more are released. An order takes at most 101, and the row is read twice a second. */
const refilledAt = 500;
/** Keys that an xpub derives end at 2^31; what is left there is for a person who moves on too far. */
export const indexEnd = 2_000_000_000;

/** The higher end of each branch. */
export const highestOf = (first: BranchEnds, ...others: readonly BranchEnds[]): BranchEnds => ({
  orders: Math.max(first.orders, ...others.map(({ orders }) => orders)),
  own: Math.max(first.own, ...others.map(({ own }) => own)),
});

/** Whether no branch of the other ends is higher. */
export const covers = (ends: BranchEnds, others: BranchEnds): boolean =>
  ends.orders >= others.orders && ends.own >= others.own;

/** Ends that are later by a number of indices, as far as there are any. */
export const movedBy = ({ orders, own }: BranchEnds, indices: number): BranchEnds => ({
  orders: Math.min(orders + indices, indexEnd),
  own: Math.min(own + indices, indexEnd),
});

/** The end to which more is released; the same ends where enough is left. */
export const refilled = (next: BranchEnds, released: BranchEnds): BranchEnds => {
  const more = movedBy(released, releasedAtOnce);
  return {
    orders: released.orders - next.orders > refilledAt ? released.orders : more.orders,
    own: released.own - next.own > refilledAt ? released.own : more.own,
  };
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
