/** The classes of a move. The numbers are stored (chain.sales.class). Only the first two classes have rows. */
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

/** Layouts of a sale (docs/marketplace.md). The numbers are stored (chain.sales.form). */
export const saleForms = {
  openordex: 1,
  /** Layout of single sales on Magic Eden, OKX and ordit. */
  'two-dummies': 2,
  /** OKX. */
  bulk: 3,
  'ord-offer': 4,
  /** A pair of input and output in another layout. */
  pair: 5,
  /** All outputs are signed, and the spent coins show who paid. */
  'all-signed': 6,
} as const;

export type SaleForm = keyof typeof saleForms;

/** Confidence of a row. The numbers are stored (chain.sales.confidence). */
export const confidences = {
  /** The seller's signature binds the payout, and the layout is known. */
  'bound-known': 1,
  /** The seller's signature binds the payout, but the layout is unknown. */
  bound: 2,
  /**
   * Several signatures spend the item, and one signature binds the payout. The owner that this payout pays is treated
   * as the maker.
   */
  'bound-shared': 3,
  /** Nothing binds the payout alone. The owner of the item gains sats, and the receiver of the item pays. */
  'paid-by-taker': 4,
  /**
   * Like `paid-by-taker`, but the buyer does not visibly pay. The layout is that of an offer of ord, or of a purchase.
   */
  'offer-layout': 5,
} as const;

export type Confidence = keyof typeof confidences;
