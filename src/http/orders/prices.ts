import { InvalidRequest } from '#http/server/requests/validation.ts';
import type { Inventory } from '#inventory/inventory.ts';
import { standingOf } from '#inventory/inventory-standing.ts';
import { defaultBaseFees } from '#inventory/inventory-types.ts';
import type { OrderRefusal, OrderTerms } from '#orders/inscribing/order-terms.ts';
import { type OrderPrices, type OrderQuote, quoteOrder } from '#orders/inscribing/quote-order.ts';
import { faultsMax, type RequestFault } from '#orders/reading/request-values.ts';
import { readSatType } from './stocked-sats.ts';

/** What the operator asks for orders, in sats. */
export interface PriceSettings {
  /** A file of a managed order. */
  readonly baseFee: number;
  /** A file of a direct order. */
  readonly baseFeeDirect: number;
  readonly sizeFeePercent: number;
  readonly collectionServiceFee: number;
  /** Of the base fee, what the referral of an order gets. */
  readonly referralPercent: number;
  /** Whether reveals that nodes do not relay can be mined. */
  readonly nonStandard: boolean;
}

/** Those of the public service, as far as it shows them. */
export const defaultPriceSettings: PriceSettings = {
  baseFee: 9000,
  baseFeeDirect: 2000,
  sizeFeePercent: 10,
  collectionServiceFee: 0,
  referralPercent: 15,
  nonStandard: false,
};

/** The prices of a type of orders, without special sats and discounts. */
export function pricesOf(type: OrderTerms['type'], settings: PriceSettings): OrderPrices {
  return {
    baseFee: BigInt(type === 'direct' ? settings.baseFeeDirect : settings.baseFee),
    rareSatsFee: 0n,
    collectionServiceFee: 0n,
    price: 0n,
    sizeFeePercent: settings.sizeFeePercent,
    discounts: [],
  };
}

/** Throws `request_invalid` with the reason of a refusal. */
export function quoted(terms: OrderTerms, prices: OrderPrices): OrderQuote {
  const quote = quoteOrder(terms, prices);
  if (quote.kind === 'quote') return quote;
  throw refusedRequest(quote);
}

/** A refusal as the error of its request. */
function refusedRequest({ reason }: OrderRefusal): InvalidRequest {
  return new InvalidRequest([{ message: reason }]);
}

/** The faults of a request, of which there is one at least, as its error. */
export function refuseFaults(faults: readonly RequestFault[]): InvalidRequest {
  const [first, ...others] = faults.slice(0, faultsMax);
  return new InvalidRequest([first ?? { message: 'the request is not valid' }, ...others]);
}

/**
 * What an inscription of a managed order on a special sat costs more. Throws `request_invalid` for a type that is not
 * known, sold out, or too small for one of the files.
 */
export async function rareSatsFeeOf(
  rareSats: string,
  { files }: Pick<OrderTerms, 'files'>,
  inventory: Inventory | null,
): Promise<bigint> {
  const type = readSatType(rareSats);
  if (type === null) return 0n;
  const standing = inventory === null ? standingOf([], defaultBaseFees) : await inventory.standing();
  const { baseFee, count, maxSize } = standing[type];
  if (count < files.length) {
    throw badSats(`There are sats of type ${type} for ${count} inscriptions now, not for ${files.length}.`);
  }
  const tooLong = files.findIndex(({ body }) => bytesOf(body) > maxSize);
  if (tooLong !== -1) {
    throw badSats(`File ${tooLong + 1} is longer than the ${maxSize} bytes that sats of type ${type} take.`);
  }
  return BigInt(baseFee);
}

const badSats = (message: string): InvalidRequest => new InvalidRequest([{ message, parameter: 'rareSats' }]);
const bytesOf = (body: Uint8Array | number | null): number =>
  typeof body === 'number' ? body : (body?.length ?? 0);
