/** Bounds of collections for sale; the database has the same ones. */
export const collectionBounds = {
  /** Items: a market collection has as many. */
  items: 100_000,
  /** Files that one creation names by URL: those of larger collections are uploaded (interface 4.4). */
  filesByUrl: 1_000,
  /** Phases: each is read with every order. */
  phases: 100,
  /** Addresses of all phases together: as many as buyers that a supply can have. */
  allowances: 100_000,
  /** Items of one order: as many files as a managed order has in one creation. */
  itemsOfOrder: 1_000,
  /** Sats an item: all that there will ever be. */
  price: 2_100_000_000_000_000,
} as const;
