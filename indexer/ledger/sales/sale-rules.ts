/** The version of the rules and of their data: rows say by which they were made. */
export const salesRules = 1;

/** The classes of a move. Numbers are stored (chain.sales.class): only the first two have rows. */
export const moveClasses = {
  sale: 1,
  offer: 2,
  transfer: 3,
  'self-transfer': 4,
  gift: 5,
  burn: 6,
  fee: 7,
  other: 8,
} as const;

export type MoveClass = keyof typeof moveClasses;

/** What a layout looks like (docs/marketplace.md). Numbers are stored (chain.sales.form). */
export const saleForms = {
  openordex: 1,
  /** Magic Eden, OKX and ordit lay single sales out alike. */
  'two-dummies': 2,
  /** OKX. */
  bulk: 3,
  'ord-offer': 4,
  /** A pair in another layout. */
  pair: 5,
  /** All outputs are signed, and the coins show who paid. */
  'all-signed': 6,
} as const;

export type SaleForm = keyof typeof saleForms;

/** How sure a row is. Numbers are stored (chain.sales.confidence). */
export const confidences = {
  /** The seller's signature binds the payout, and the layout is a known one. */
  'bound-known': 1,
  /** The same in an unknown layout. */
  bound: 2,
  /** Several signatures spend the item, and one binds the payout: who is paid there counts as the maker. */
  'bound-shared': 3,
  /** Nothing binds the payout alone. The holder gains sats, and who gets the item pays. */
  'paid-by-taker': 4,
  /** The same, but who pays is not seen to be who gets the item: the layout is that of an offer of ord. */
  'offer-layout': 5,
} as const;

export type Confidence = keyof typeof confidences;

/** The largest output that a buyer puts before an item, to shift it: openordex takes up to 1,000 sats, msigner too. */
export const dummyMax = 1_000;
/** Platforms keep no fee that would be dust: msigner leaves out 580 and less. */
export const feeOutputMin = 581;
/** An output of a legacy script below 546 sats is dust: wallets send items for nothing with about that much. */
export const dustMax = 546;
