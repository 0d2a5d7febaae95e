/** The fees that a discount can lower. */
export const discountedFees = ['baseFee', 'rareSatsFee', 'collectionServiceFee'] as const;
export type DiscountedFee = (typeof discountedFees)[number];

export interface Discount {
  /** A whole number of sats, or a percentage of the fee with at most two decimals. */
  readonly discount: number;
  readonly parameter: DiscountedFee;
  readonly type: 'fixed' | 'percentage';
}

/** Prices and limits that an operator set for a key. */
export interface KeyTerms {
  /** Sats per file of a managed order. `null` if the price of the service applies. */
  readonly baseFee: number | null;
  /** Sats per file of a direct order. `null` if the price of the service applies. */
  readonly directBaseFee: number | null;
  /** Discounts, at most one for each fee. */
  readonly discounts: readonly Discount[];
  /**
   * Maximum number of sats of the inventory that unpaid orders of the key may reserve. `null` if the limit of the
   * client's IP address applies.
   */
  readonly reservedMax: number | null;
}

/** Terms of requests without a key, and of keys without separate terms. */
export const usualTerms: KeyTerms = { baseFee: null, directBaseFee: null, discounts: [], reservedMax: null };

/** A valid key that a request sent in a header. */
export interface KnownKey {
  readonly kind: 'known';
  readonly id: number;
  /** Name of the account that owns the key. */
  readonly account: string;
  /** sha256 of the key, in hex. */
  readonly hash: string;
  /** Scopes that an operator gave the key (`src/accounts/api-key.ts`). */
  readonly scopes: readonly string[];
  readonly terms: KeyTerms;
}

/** The key of a request without a valid key. It belongs to no account. */
export interface NoKey {
  readonly kind: 'none';
  readonly terms: KeyTerms;
}

/** The key of a request. The key decides prices and limits, and owns the results. */
export type AskingKey = KnownKey | NoKey;

export const noKey: NoKey = { kind: 'none', terms: usualTerms };
