import type { Asker } from '#kernel/contracts/asker.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import { askedRune } from '#orders/collections/asked-rune.ts';
import type { OrderedItems } from '#orders/collections/ordered-items.ts';
import type { OrderLayout } from '#orders/inscribing/order-layout.ts';
import type { OrderQuote, OrderWarning } from '#orders/inscribing/quote-order.ts';
import { nonStandardReveals } from '#orders/mining/offer-reveals.ts';
import type { StoredQuote } from '#orders/order/order-request.ts';
import { type PriceSettings, pricesOf, quoted, withCollection } from '#orders/pricing/prices.ts';
import { keptSizeFees } from '#orders/pricing/quoted-layout.ts';
import { offerSats, type Stock } from '#orders/pricing/stocked-sats.ts';
import type { ReadOrder } from '#orders/reading/read-order.ts';
import type { CheckedOrder } from './check-order.ts';
import type { StockedReserver, WantedOrder } from './create-order.ts';

export interface QuotingParts extends Stock {
  readonly settings: PriceSettings;
}

/** Quotes a checked order, and chooses inventory sats if the order wants such sats. Throws `orders_off`. */
export async function quoteCheckedOrder(
  parts: QuotingParts,
  { order, read, extras, policy, satType, items }: CheckedOrder,
  asker: Asker,
): Promise<{ readonly kind: 'wanted'; readonly wanted: WantedOrder } | Faulty> {
  const { settings } = parts;
  const offer = satType === null ? null : await offerSats(parts, satType, order.terms, asker);
  if (offer?.kind === 'faulty') return offer;
  const { terms, fee: rareSatsFee } = offer ?? { terms: order.terms, fee: 0n };
  const prices = { ...pricesOf(terms.type, settings, asker), rareSatsFee };
  const quote = quoted(terms, withCollection(prices, items, settings));
  if (quote.kind === 'faulty') return quote;
  const rune = await askedRune(parts.pool, items, asker.signal);
  if (rune.kind === 'faulty') return rune;
  const wanted = {
    ...order,
    terms,
    files: withNonStandard(order.files, quote.layout),
    layout: quote.layout,
    planned: [...quote.warnings, ...cheaperWarnings(items)],
    rune: rune.asked,
    stocked: offer === null ? null : { sats: offer.sats, ofType: offer.ofType, by: reserverOf(asker) },
    request: {
      ...extras.request(quote.postage, terms.files.length),
      payToAnchor: terms.burn,
      uncurseIt: terms.uncurse,
      inscriptionIdPrefix: read.inscriptionIdPrefix,
      ...shownReferral(read),
      // the value as the client sent it, because clients compare it with their own value
      ...(satType === null ? {} : { rareSats: read.rareSats }),
      ...(items === null ? {} : { collection: shownCollection(items) }),
    },
    quote: storedQuote(quote, { read, policy, items, hasRareSatsFee: rareSatsFee > 0n }, settings),
  };
  return { kind: 'wanted', wanted };
}

/**
 * Warns a customer who orders more items than the cheaper phase allows, and therefore pays the price of another phase
 * for all items.
 */
const cheaperWarnings = (items: Pick<OrderedItems, 'cheaper' | 'price'> | null): OrderWarning[] =>
  items?.cheaper == null
    ? []
    : [
        {
          code: 'cheaper-phase',
          message: `Each item costs ${items.price} sats here. Phase ${items.cheaper.phase} sells ${items.cheaper.items} of the items to this address for ${items.cheaper.price} sats each. To pay less, order these items in one order and the other items in another order.`,
        },
      ];

const collectionPrices = (
  { collectionServiceFee }: Pick<OrderQuote, 'collectionServiceFee'>,
  { price, creatorAddress }: Pick<OrderedItems, 'price' | 'creatorAddress'>,
) => ({
  collectionServiceFee: Number(collectionServiceFee),
  ...(creatorAddress === null ? {} : { creator: { address: creatorAddress, price: Number(price) } }),
});

/** Returns the files, and marks files whose transaction nodes do not relay (client-compat 3.4). */
function withNonStandard(files: WantedOrder['files'], layout: OrderLayout): WantedOrder['files'] {
  const heavy = new Set(nonStandardReveals(layout).map(({ first }) => first));
  if (heavy.size === 0) return files;
  return files.map((file, index) =>
    file === null || !heavy.has(index) ? file : { ...file, shown: { ...file.shown, nonStandardTx: true } },
  );
}

/**
 * Decides for whom unpaid reservations are counted. They are counted for the key if the key has its own limit,
 * otherwise for the client address.
 */
function reserverOf({ client, key }: Pick<Asker, 'client' | 'key'>): StockedReserver {
  if (key.kind === 'none' || key.terms.reservedMax === null) return { client, most: null };
  // no client address starts with `key(`, so keys and addresses never get mixed up
  return { client: `key(${key.id})`, most: key.terms.reservedMax };
}

/** The field `collection` of an answer (client-compat 3.6). */
const shownCollection = ({ collection, isRequested, items }: OrderedItems) => ({
  id: collection,
  count: items.length,
  type: isRequested ? 'requested' : 'random',
  items: items.map(({ item }) => item),
});

/** The fields of the referral in an answer. */
const shownReferral = ({ referral, terms }: ReadOrder) => ({
  referral,
  additionalFee: terms.additionalFee > 0n ? Number(terms.additionalFee) : null,
});

/**
 * Part of the base fee that goes to an order's referral, in sats. The amount is computed once for the order, and
 * rounded in favour of the service.
 */
const referralFee = (
  { baseFee }: Pick<OrderQuote, 'baseFee'>,
  { referralPercent }: Pick<PriceSettings, 'referralPercent'>,
): number => Number((baseFee * BigInt(referralPercent)) / 100n);

interface Quoted extends Pick<CheckedOrder, 'read' | 'policy' | 'items'> {
  readonly hasRareSatsFee: boolean;
}

/** The quote that is stored with the order. */
function storedQuote(
  quote: OrderQuote,
  { read, policy, items, hasRareSatsFee }: Quoted,
  settings: PriceSettings,
): StoredQuote {
  return {
    chainFee: Number(quote.chainFee),
    serviceFee: Number(quote.serviceFee),
    baseFee: Number(quote.baseFee),
    // stored even if a discount reduces the fee to 0
    ...(hasRareSatsFee ? { rareSatsFee: Number(quote.rareSatsFee) } : {}),
    ...(items === null ? {} : collectionPrices(quote, items)),
    ...keptSizeFees(quote.layout),
    additionalFeeCharged: Number(quote.additionalFeeCharged),
    postage: Number(quote.postage),
    amount: Number(quote.amount),
    ...(read.referral === null ? {} : { referralFee: referralFee(quote, settings) }),
    // if a rune is paid, no time of a held price is stored, because the sats are paid within half an hour, and the rune
    // amount does not change
    ...(items === null || items.runePrice === null
      ? { heldUntil: Date.now() + settings.holdMinutes * 60_000 }
      : {}),
    // without a stored estimate the price is never raised, because a rise of fees cannot be computed
    ...(policy?.estimate == null ? {} : { feeEstimate: Number(policy.estimate) }),
  };
}
