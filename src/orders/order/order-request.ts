/** What a customer sent, without contents, as answers show it again: absent fields are null. */
export interface OrderRequest {
  /** Inscriptions. */
  readonly count: number;
  /** As it was sent: a number or a numeric text. */
  readonly fee: number | string;
  readonly postage: number;
  readonly receiveAddress: string | readonly string[] | null;
  readonly delegates: readonly object[] | null;
  readonly parents: readonly object[] | null;
  readonly inscriptionIdPrefix: string | null;
  readonly allowedSatributes: readonly string[] | null;
  /**
   * The type of the inventory that its sat has; absent: it is one of the payment. Managed orders have it as it was
   * sent.
   */
  readonly rareSats?: string | number | null;
  /** Shown as they were sent; absent: the order is not managed. */
  readonly compress?: boolean | string | number | null;
  readonly batchMode?: string | number | null;
  readonly additionalFee: number | null;
  readonly referral: string | null;
  /** The collection that its files are items of, by their numbers; absent: none. */
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
 * Sats that the service earns by an order: all but postage and what is another one's. Pure.
 *
 * @param postages outputs of its receivers: of inscriptions, and of a premine
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

/** What an order costs, as it was quoted. Sats. */
export interface StoredQuote {
  readonly chainFee: number;
  readonly serviceFee: number;
  readonly baseFee: number;
  /** Of an order of a sat of the inventory. */
  readonly rareSatsFee?: number;
  /** Sats an item of a collection, for the service; absent: it is no order of a collection. */
  readonly collectionServiceFee?: number;
  /** Sats an item for the creator of a collection, and where they go; absent: none are due. */
  readonly creator?: { readonly address: string; readonly price: number };
  /**
   * Of a managed order, part of `serviceFee`: in all, and the least by which outputs are chosen; absent: there is
   * none.
   */
  readonly sizeFees?: { readonly least: number; readonly all: number };
  readonly additionalFeeCharged: number;
  /** Of the base fee, what the referral gets when the order is delivered; absent: nothing. */
  readonly referralFee?: number;
  readonly postage: number;
  readonly amount: number;
  /**
   * What was estimated for being mined soon when the order was made, in sats for 1,000 virtual bytes; absent: nothing
   * was.
   */
  readonly feeEstimate?: number;
  /** Until when the price is kept, in ms; absent: for ever, as of orders of earlier versions. */
  readonly heldUntil?: number;
  /** The amount in US dollars when the order was made; absent: no rate was known, or it is no managed order. */
  readonly fiatValue?: number;
}

/** A late payment was asked for more. Rates are sats for 1,000 virtual bytes, amounts sats, times ms. */
export interface StoredRepricing {
  readonly at: number;
  /** Until when the difference can be paid. */
  readonly until: number;
  /** Amount of the order before. */
  readonly before: number;
  /** Difference that is asked for. */
  readonly amount: number;
  /** Estimates: of the price before, and of the late payment. */
  readonly fromEstimate: number;
  readonly toEstimate: number;
  /** Rate that the transactions of the order pay now. */
  readonly feeRate: number;
}
