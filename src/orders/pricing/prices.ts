import type { Asker } from '#kernel/contracts/asker.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import { type OrderTerms, orderBounds } from '#orders/inscribing/order-terms.ts';
import { type OrderPrices, type OrderQuote, quoteOrder } from '#orders/inscribing/quote-order.ts';

/** The operator's prices of orders, in sats. */
export interface PriceSettings {
  /** Fee per file of a managed order. */
  readonly baseFee: number;
  /** Fee per file of a direct order. */
  readonly baseFeeDirect: number;
  readonly sizeFeePercent: number;
  readonly collectionServiceFee: number;
  /** Percentage of the base fee that the referral of an order gets. */
  readonly referralPercent: number;
  /** How many minutes the price of an order is held. */
  readonly holdMinutes: number;
  /** Whether a miner accepts reveals that nodes do not relay. */
  readonly nonStandard: boolean;
}

/** Default prices. They are the prices of the public interface, as far as that interface shows them. */
export const defaultPriceSettings: PriceSettings = {
  baseFee: 9000,
  baseFeeDirect: 2000,
  sizeFeePercent: 10,
  collectionServiceFee: 0,
  referralPercent: 15,
  holdMinutes: 60,
  nonStandard: false,
};

/**
 * Prices of a type of order for a client, without special sats. The terms of the client's key override the settings.
 */
export function pricesOf(
  type: OrderTerms['type'],
  settings: PriceSettings,
  { key: { terms } }: Pick<Asker, 'key'>,
): OrderPrices {
  const baseFee =
    type === 'direct' ? (terms.directBaseFee ?? settings.baseFeeDirect) : (terms.baseFee ?? settings.baseFee);
  return {
    baseFee: BigInt(baseFee),
    rareSatsFee: 0n,
    collectionServiceFee: 0n,
    price: 0n,
    sizeFeePercent: settings.sizeFeePercent,
    discounts: terms.discounts,
  };
}

/**
 * Adds the price of a collection's items and the operator's fee for collections. `items` is null if the order is not
 * for a collection.
 */
export const withCollection = (
  prices: OrderPrices,
  items: { readonly price: bigint } | null,
  { collectionServiceFee }: Pick<PriceSettings, 'collectionServiceFee'>,
): OrderPrices =>
  items === null
    ? prices
    : { ...prices, price: items.price, collectionServiceFee: BigInt(collectionServiceFee) };

/** The price of an order. Returns a fault with the reason if its transactions cannot be made or are too many. */
export function quoted(terms: OrderTerms, prices: OrderPrices): OrderQuote | Faulty {
  const quote = quoteOrder(terms, prices);
  if (quote.kind === 'refused') return { kind: 'faulty', faults: [{ message: quote.reason }] };
  const reveals = quote.layout.reveals.length;
  // mints have a different limit
  return terms.mint === null && reveals > orderBounds.reveals ? tooManyReveals(reveals) : quote;
}

function tooManyReveals(reveals: number): Faulty {
  const message = `The order needs ${reveals} reveals, but an order has at most ${orderBounds.reveals}. Order its files in parts, or without uncurseIt.`;
  return { kind: 'faulty', faults: [{ message, parameter: 'files' }] };
}
