/** Bounds of collections for sale. The database checks the same bounds. */
export const collectionBounds = {
  /** Maximum number of items of a collection. Collections of the market have the same maximum. */
  items: 100_000,
  /**
   * Maximum number of files that one creation names by URL. The operator uploads the files of larger collections
   * (interface 4.4).
   */
  filesByUrl: 1_000,
  /**
   * Maximum number of phases. Every order reads all phases. The table allows twice this number of positions, because a
   * change first moves the existing phases to the upper half.
   */
  phases: 50,
  /**
   * Maximum number of addresses of all phases together. It allows one buyer for each item of the largest collection.
   */
  allowances: 100_000,
  /**
   * Maximum number of addresses in a creation without a key. A form has at most 20,000 fields. The bound also limits
   * how much of the disk strangers can fill.
   */
  strangersAllowances: 20_000,
  /** Maximum number of items of one order. It equals the maximum number of files of a managed order in one creation. */
  itemsOfOrder: 1_000,
  /** Maximum price of an item in sats: all sats that will ever exist. */
  price: 2_100_000_000_000_000,
  /** Maximum number of characters of a name. */
  nameChars: 200,
  /** Maximum number of characters of a URL. Browsers and servers accept that many. */
  urlChars: 3_000,
} as const;

/**
 * Maximum numbers of undecided collections of creators without a key. Each collection needs up to 3 MB in the database,
 * and an operator must read it.
 */
export const undecidedBounds = {
  /** Limit for one address. It is enough for a creator who tries again after a mistake. */
  client: 3,
  /** Limit for one network, because the owner of a /24 has 256 addresses. */
  network: 10,
  /** Limit for all creators together. These collections need 300 MB. */
  all: 100,
  /** Number of days after which undecided collections are deleted. An operator may be away for a month. */
  days: 30,
} as const;
