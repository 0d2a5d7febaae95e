import { type Satribute, whyUnknown } from '#kernel/satributes/satribute.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { inscribedPlaces, type SpentValues } from '#orders/inscribing/inscribed-places.ts';
import type { OrderRefusal } from '#orders/inscribing/order-terms.ts';
import { type Coin, type CoinCosts, selectCoins, withPlaced } from '#orders/order/coin-selection.ts';
import type { Order } from '#orders/order/order.store.ts';
import { termsOf } from '#orders/order/stored-terms.ts';
import { quotedLayout } from '#orders/pricing/quoted-layout.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import type { ArrivedSats } from './arrived-sats.ts';
import { placePayments } from './place-payments.ts';

/** A payment with the facts that the selection of coins needs. */
export type CoinPayment = WatchedPayment & Coin;

/**
 * The result of `placeSats`: how the payments of an order are spent. Their sequence matters only if the order requires
 * certain sats.
 */
export type PlacedPayments =
  /** The payments are spent in this sequence. For most orders any sequence is right. */
  | { readonly kind: 'placed'; readonly payments: readonly CoinPayment[] }
  /** The sats of the payments are being looked up. */
  | { readonly kind: 'pending' }
  /** These payments have allowed sats, but are `missing` sats short of the costs of the delivery. */
  | { readonly kind: 'short'; readonly payments: readonly CoinPayment[]; readonly missing: bigint }
  /** Nothing is inscribed with these payments. The reason is a text for people. */
  | { readonly kind: 'unwanted'; readonly reason: string }
  /** No transaction can be made from the payments, or their sats are unknown. */
  | { readonly kind: 'impossible'; readonly reason: string };

/** The money that a paid order can spend. */
export interface PaidFunds extends Pick<SpentValues, 'parents'> {
  /** The coins that `selectCoins` returns. */
  readonly payments: readonly CoinPayment[];
  readonly costs: CoinCosts;
}

/** Sources of facts about sats. */
export interface KnownSats {
  readonly arrived: Pick<ArrivedSats, 'of' | 'askAgain'>;
  /** The satribute definitions that are active now. */
  readonly satributes: SatributeBook;
}

/**
 * Decides how the payments are spent. The decision uses the sats that really arrived for an order, and not the sats
 * that the customer's wallet was asked to send.
 */
export function placeSats(
  order: Pick<Order, 'id' | 'request' | 'quote' | 'terms'>,
  funds: PaidFunds,
  { arrived, satributes }: KnownSats,
): PlacedPayments {
  const { payments } = funds;
  const { allowedSatributes } = order.request;
  if (allowedSatributes === null) return { kind: 'placed', payments };
  const found = payments.map((payment) => ({ payment, sats: arrived.of(order.id, payment) }));
  if (found.some(({ sats }) => sats.kind === 'pending')) return { kind: 'pending' };
  const known = found.flatMap(({ payment, sats }) =>
    sats.kind === 'known' ? [{ ...payment, ranges: sats.ranges }] : [],
  );
  const reason = found.flatMap(({ sats }) => (sats.kind === 'unknown' ? [sats.reason] : [])).at(0);
  // payments with unknown sats are omitted if the others are enough, because anyone may send such sats
  if (reason === undefined || selectCoins(known, funds.costs) !== null) {
    const placed = placeKnown(order, allowedSatributes, { ...funds, known }, satributes);
    if (reason === undefined || placed.kind === 'placed') return placed;
  }
  arrived.askAgain(order.id);
  return { kind: 'impossible', reason: `The sats of the payment are unknown: ${reason}.` };
}

type KnownCoin = CoinPayment & { readonly ranges: readonly SatRange[] };

interface KnownFunds extends Omit<PaidFunds, 'payments'> {
  /** Payments whose sats are known. */
  readonly known: readonly KnownCoin[];
}

function placeKnown(
  order: Pick<Order, 'quote' | 'terms'>,
  allowedSatributes: readonly string[],
  funds: KnownFunds,
  satributes: SatributeBook,
): PlacedPayments {
  const allowed = allowedSatributes.flatMap((name) => satributes.find(name) ?? []);
  const placed = placeCoins(order, funds, allowed);
  if ('reason' in placed) {
    return placed.missing === undefined
      ? { kind: 'impossible', reason: placed.reason }
      : { kind: 'short', payments: placed.coins, missing: placed.missing };
  }
  if (placed.coins !== null) return { kind: 'placed', payments: placed.coins };
  // the rule of a satribute may be unknown for now, because it is being traced again, or is missing in the settings by
  // mistake
  const unknown = allowed.find(({ rule }) => whyUnknown(rule) !== null);
  if (unknown !== undefined)
    return { kind: 'impossible', reason: `It is unknown now which sats are ${unknown.id}.` };
  return { kind: 'unwanted', reason: unwantedOf(allowedSatributes, placed.inscriptions) };
}

/**
 * Coins in the sequence in which they are spent. `coins` is null if no sequence puts all inscriptions on allowed sats.
 */
type PlacedCoins =
  | { readonly coins: readonly KnownCoin[] | null; readonly inscriptions: number }
  | (Pick<OrderRefusal, 'reason' | 'missing'> & { readonly coins: readonly KnownCoin[] });

/**
 * Selects coins whose allowed sats get the inscriptions, then further coins that are needed to pay. Positions in a
 * commit depend on the number of coins that pay for it, so the positions are computed again if the coins change.
 */
function placeCoins(
  { terms: stored, quote }: Pick<Order, 'quote' | 'terms'>,
  { known, parents, costs }: KnownFunds,
  allowed: readonly Satribute[],
): PlacedCoins {
  const terms = termsOf(stored);
  const layout = quotedLayout(terms, quote);
  let spent = withPlaced([], known, costs);
  for (let tries = 0; ; tries++) {
    const inscribed = inscribedPlaces(terms, layout, { payments: spent, parents });
    if (inscribed.kind === 'refused') return { ...inscribed, coins: spent };
    const { places } = inscribed;
    const ordered = placePayments(known, allowed, places);
    if (ordered === null) return { coins: null, inscriptions: places.length };
    const first = countUpTo(ordered, places.at(-1) ?? 0);
    const coins = withPlaced(ordered.slice(0, first), ordered.slice(first), costs);
    const again = inscribedPlaces(terms, layout, { payments: coins, parents });
    if (again.kind === 'refused') return { ...again, coins };
    if (again.places.join() === places.join()) return { coins, inscriptions: places.length };
    if (tries === triesMax) return { coins: null, inscriptions: places.length };
    spent = coins;
  }
}

/**
 * Maximum number of times that the positions are computed again. They are computed for the coins of the previous try,
 * so two sets of coins might alternate forever.
 */
const triesMax = 3;

/** Number of coins from the first one up to the coin that contains the sat at a position. */
function countUpTo(coins: readonly KnownCoin[], place: number): number {
  let sats = 0n;
  const last = coins.findIndex(({ value }) => (sats += value) > BigInt(place));
  return last + 1;
}

const unwantedOf = (allowed: readonly string[], count: number): string =>
  count === 1
    ? `No output of the payment begins with a sat that is ${allowed.join(' or ')}, but allowedSatributes needs this.`
    : `The payment has no sats that are ${allowed.join(' or ')} at the positions of the ${count} inscriptions, but allowedSatributes needs this.`;
