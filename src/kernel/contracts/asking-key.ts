/** The fees that a discount can lower. */
export const discountedFees = ['baseFee', 'rareSatsFee', 'collectionServiceFee'] as const;
export type DiscountedFee = (typeof discountedFees)[number];

export interface Discount {
  /** Whole sats, or a percentage of the fee with at most two decimals. */
  readonly discount: number;
  readonly parameter: DiscountedFee;
  readonly type: 'fixed' | 'percentage';
}

/** Prices and limits that an operator gave a key. */
export interface KeyTerms {
  /** Sats per file of a managed order. Null: the price of the service. */
  readonly baseFee: number | null;
  /** Sats per file of a direct order. Null: the price of the service. */
  readonly directBaseFee: number | null;
  /** Discounts, at most one per fee. */
  readonly discounts: readonly Discount[];
  /** Maximum sats of the inventory that unpaid orders of the key may reserve. Null: the limit of its address. */
  readonly reservedMax: number | null;
}

/** Terms of a key without terms of its own, and of requests without a key. */
export const usualTerms: KeyTerms = { baseFee: null, directBaseFee: null, discounts: [], reservedMax: null };

/** A valid key that a request sent in a header. */
export interface KnownKey {
  readonly kind: 'known';
  readonly id: number;
  /** Name of the account that owns it. */
  readonly account: string;
  /** sha256 of the key, in hex. */
  readonly hash: string;
  /** Scopes that an operator gave it (`src/accounts/api-key.ts`). */
  readonly scopes: readonly string[];
  readonly terms: KeyTerms;
}

/** The key of a request without a valid one. No account owns it. */
export interface NoKey {
  readonly kind: 'none';
  readonly terms: KeyTerms;
}

/** The key of a request. It decides prices and limits, and owns the results. */
export type AskingKey = KnownKey | NoKey;

export const noKey: NoKey = { kind: 'none', terms: usualTerms };
