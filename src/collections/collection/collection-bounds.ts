/** Bounds of collections for sale; the database has the same ones. */
export const collectionBounds = {
  /** Items: a market collection has as many. */
  items: 100_000,
  /** Files that one creation names by URL: those of larger collections are uploaded (interface 4.4). */
  filesByUrl: 1_000,
  /**
   * Phases: each is read with every order. Half of the places of the table: a change moves them to the other half
   * first.
   */
  phases: 50,
  /** Addresses of all phases together: as many as buyers that a supply can have. */
  allowances: 100_000,
  /**
   * The same of a creation without a key: no more fit into a form of 20,000 fields, and strangers fill the disk
   * with them.
   */
  strangersAllowances: 20_000,
  /** Items of one order: as many files as a managed order has in one creation. */
  itemsOfOrder: 1_000,
  /** Sats an item: all that there will ever be. */
  price: 2_100_000_000_000_000,
  /** Characters of names. */
  nameChars: 200,
  /** Characters of URLs: what browsers and servers take. */
  urlChars: 3_000,
} as const;

/**
 * Collections of creators without a key that no operator has decided about: each is up to 3 MB in the database, and
 * an operator reads each of them.
 */
export const undecidedBounds = {
  /** Limit of one address: a creator who tries again after a mistake. */
  client: 3,
  /** Limit of one network: who owns a /24 has 256 addresses. */
  network: 10,
  /** All together: 300 MB. */
  all: 100,
  /** Days after which they are deleted: an operator who is away for a month decides about none. */
  days: 30,
} as const;
