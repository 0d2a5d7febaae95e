/** The customer's request without contents, as answers show it: absent fields are null. */
export interface OrderRequest {
  /** Number of inscriptions. */
  readonly count: number;
  /** The fee as it was sent: a number or a numeric text. */
  readonly fee: number | string;
  readonly postage: number;
  readonly receiveAddress: string | readonly string[] | null;
  readonly delegates: readonly object[] | null;
  readonly parents: readonly object[] | null;
  readonly inscriptionIdPrefix: string | null;
  readonly allowedSatributes: readonly string[] | null;
  /** The inventory type of its sat; absent: a sat of the payment. Managed orders have it as it was sent. */
  readonly rareSats?: string | number | null;
  /** Shown as they were sent; absent: the order is not managed. */
  readonly compress?: boolean | string | number | null;
  readonly batchMode?: string | number | null;
  readonly additionalFee: number | null;
  readonly referral: string | null;
  /** The collection whose items its files are, with their numbers; absent: none. */
  readonly collection?: {
    readonly id: string;
    readonly count: number;
    readonly type: string;
    readonly items: readonly number[];
  };
  readonly refundAddress: string | null;
  readonly projectTag: string | null;
  readonly zeroConf: null;
  readonly payToAnchor: boolean;
  readonly uncurseIt: boolean;
}

/**
 * Sats that the service earns by an order: its fees without postage and the shares of others. Pure.
 *
 * @param postages outputs for its receivers: of inscriptions, and of a premine
 */
export const earnedBy = (
  {
    serviceFee,
    postage,
    additionalFeeCharged,
    referralFee = 0,
    creator,
  }: Pick<StoredQuote, 'serviceFee' | 'postage' | 'additionalFeeCharged' | 'referralFee' | 'creator'>,
  postages: number,
): bigint =>
  BigInt(serviceFee) -
  BigInt(postage + (creator?.price ?? 0)) * BigInt(postages) -
  BigInt(additionalFeeCharged + referralFee);

/** The quoted cost of an order. Sats. */
export interface StoredQuote {
  readonly chainFee: number;
  readonly serviceFee: number;
  readonly baseFee: number;
  /** Fee of an order with an inventory sat. */
  readonly rareSatsFee?: number;
  /** Sats for the service, for each item of a collection; absent: not for a collection. */
  readonly collectionServiceFee?: number;
  /** Sats for the creator of a collection, for each item, and the creator's address; absent: none. */
  readonly creator?: { readonly address: string; readonly price: number };
  /**
   * Part of `serviceFee` for a managed order: the whole, and the least part, by which outputs are chosen; absent: none.
   */
  readonly sizeFees?: { readonly least: number; readonly all: number };
  readonly additionalFeeCharged: number;
  /** Part of the base fee that the referral gets when the order is delivered; absent: none. */
  readonly referralFee?: number;
  readonly postage: number;
  readonly amount: number;
  /**
   * Fee estimate for being mined soon, when the order was created, in sats for 1,000 virtual bytes; absent: unknown.
   */
  readonly feeEstimate?: number;
  /** Time until which the price is held, in ms; absent: for ever, as in orders of earlier versions. */
  readonly heldUntil?: number;
  /** The amount in US dollars when the order was created; absent: no rate was known, or the order is not managed. */
  readonly fiatValue?: number;
}

/** A higher price after a late payment. Rates are sats for 1,000 virtual bytes, amounts sats, times ms. */
export interface StoredRepricing {
  readonly at: number;
  /** Time until which the difference can be paid. */
  readonly until: number;
  /** Amount of the order before. */
  readonly before: number;
  /** Difference that is charged. */
  readonly amount: number;
  /** Estimates for the old price, and at the late payment. */
  readonly fromEstimate: number;
  readonly toEstimate: number;
  /** Rate that the transactions of the order pay now. */
  readonly feeRate: number;
}
