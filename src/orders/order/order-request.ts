/** The customer's request without contents, in the form that answers show. Absent fields are null. */
export interface OrderRequest {
  /** Number of inscriptions. */
  readonly count: number;
  /** The fee in the form that the customer sent: a number or a numeric text. */
  readonly fee: number | string;
  readonly postage: number;
  readonly receiveAddress: string | readonly string[] | null;
  readonly delegates: readonly object[] | null;
  readonly parents: readonly object[] | null;
  readonly inscriptionIdPrefix: string | null;
  readonly allowedSatributes: readonly string[] | null;
  /**
   * The inventory type of the sat. Absent if a sat of the payment is inscribed. In managed orders, the value is stored
   * unchanged.
   */
  readonly rareSats?: string | number | null;
  /** The value is shown unchanged. Absent if the order is not managed. */
  readonly compress?: boolean | string | number | null;
  readonly batchMode?: string | number | null;
  readonly additionalFee: number | null;
  readonly referral: string | null;
  /** The collection whose items are the files, with the item numbers. Absent if the order is not for a collection. */
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
 * Sats that the service earns by an order: its fees without postage and without the shares of others. Pure.
 *
 * @param postages number of outputs for the order's receivers: of inscriptions, and of a premine
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

/** The quoted cost of an order, in sats. */
export interface StoredQuote {
  readonly chainFee: number;
  readonly serviceFee: number;
  readonly baseFee: number;
  /** Fee of an order with an inventory sat. */
  readonly rareSatsFee?: number;
  /** Fee of the service for each item of a collection, in sats. Absent if the order is not for a collection. */
  readonly collectionServiceFee?: number;
  /**
   * Price of the creator of a collection for each item in sats, and the creator's address. Absent if no creator is
   * paid.
   */
  readonly creator?: { readonly address: string; readonly price: number };
  /**
   * Part of `serviceFee` for the size of a managed order. `all` is the complete part. `least` is the minimum part, by
   * which outputs are chosen. Absent if there is no such part.
   */
  readonly sizeFees?: { readonly least: number; readonly all: number };
  readonly additionalFeeCharged: number;
  /** Part of the base fee that the referral gets when the order is delivered. Absent if there is no referral. */
  readonly referralFee?: number;
  readonly postage: number;
  readonly amount: number;
  /**
   * Fee estimate for being mined soon at the creation of the order, in sats per 1,000 virtual bytes. Absent if there
   * was no estimate.
   */
  readonly feeEstimate?: number;
  /**
   * Time until which the price is held, in ms. Absent if the price is held forever, as in orders of earlier versions.
   */
  readonly heldUntil?: number;
  /**
   * The amount in US dollars at the creation of the order. Absent if no rate was known, or the order is not managed.
   */
  readonly fiatValue?: number;
}

/** A higher price after a late payment. Rates are in sats per 1,000 virtual bytes, amounts in sats, times in ms. */
export interface StoredRepricing {
  readonly at: number;
  /** Time until which the customer can pay the difference. */
  readonly until: number;
  /** Amount of the order before the rise. */
  readonly before: number;
  /** Difference that the customer must pay. */
  readonly amount: number;
  /** Estimate for the old price, and estimate at the late payment. */
  readonly fromEstimate: number;
  readonly toEstimate: number;
  /** Fee rate that the order's transactions pay now. */
  readonly feeRate: number;
}
