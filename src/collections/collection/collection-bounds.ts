/** Bounds of collections for sale; the database has the same ones. */
export const collectionBounds = {
  /** Items: as many as a collection of the market has. */
  items: 100_000,
  /** Files that one creation names by URL: those of larger collections are uploaded (interface 4.4). */
  filesByUrl: 1_000,
  /**
   * Phases: each is read with every order. It is half of the places of the table: a change moves phases to the other
   * half first.
   */
  phases: 50,
  /** Addresses of all phases together: as many as buyers of the largest supply. */
  allowances: 100_000,
  /**
   * The same for a creation without a key: a form of 20,000 fields holds no more, and it bounds how far strangers can
   * fill the disk.
   */
  strangersAllowances: 20_000,
  /** Items of one order: as many as files of a managed order in one creation. */
  itemsOfOrder: 1_000,
  /** Sats an item: all sats that will ever exist. */
  price: 2_100_000_000_000_000,
  /** Characters of names. */
  nameChars: 200,
  /** Characters of URLs: as many as browsers and servers accept. */
  urlChars: 3_000,
} as const;

/**
 * Collections of creators without a key that no operator has decided about. Each takes up to 3 MB in the database, and
 * an operator reads each of them.
 */
export const undecidedBounds = {
  /** Limit of one address: enough for a creator who tries again after a mistake. */
  client: 3,
  /** Limit of one network: the owner of a /24 has 256 addresses. */
  network: 10,
  /** Limit of all together: 300 MB. */
  all: 100,
  /** Days after which they are deleted: an operator may be away for a month. */
  days: 30,
} as const;
