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

/** A payment, as coins are selected. */
export type CoinPayment = WatchedPayment & Coin;

/** How the payments of an order are spent, where it says which sats it wants. */
export type PlacedPayments =
  /** In this order; of most orders in any. */
  | { readonly kind: 'placed'; readonly payments: readonly CoinPayment[] }
  /** Their sats are being looked up. */
  | { readonly kind: 'pending' }
  /** These payments have such sats, and lack `missing` sats to pay for the delivery. */
  | { readonly kind: 'short'; readonly payments: readonly CoinPayment[]; readonly missing: bigint }
  /** No inscription is made with them. The reason is for people. */
  | { readonly kind: 'unwanted'; readonly reason: string }
  /** Nothing can be made of them, or their sats are not known. */
  | { readonly kind: 'impossible'; readonly reason: string };

/** The money that a paid order can spend. */
export interface PaidFunds extends Pick<SpentValues, 'parents'> {
  /** The coins that `selectCoins` gives. */
  readonly payments: readonly CoinPayment[];
  readonly costs: CoinCosts;
}

/** What is known of sats. */
export interface KnownSats {
  readonly arrived: Pick<ArrivedSats, 'of' | 'askAgain'>;
  /** The definitions that are in force. */
  readonly satributes: SatributeBook;
}

/** Looks at the sats that arrived for an order, whatever its customer's wallet was asked to send. */
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
  // a stranger may send sats that no one can tell: they are left out where the others do without
  if (reason === undefined || selectCoins(known, funds.costs) !== null) {
    const placed = placeKnown(order, allowedSatributes, { ...funds, known }, satributes);
    if (reason === undefined || placed.kind === 'placed') return placed;
  }
  arrived.askAgain(order.id);
  return { kind: 'impossible', reason: `The sats that were paid are not known: ${reason}.` };
}

type KnownCoin = CoinPayment & { readonly ranges: readonly SatRange[] };

interface KnownFunds extends Omit<PaidFunds, 'payments'> {
  /** The payments whose sats are known. */
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
  // a rule that was there when the order was made may be traced anew, or left out of the settings by mistake
  const unknown = allowed.find(({ rule }) => whyUnknown(rule) !== null);
  if (unknown !== undefined)
    return { kind: 'impossible', reason: `Which sats are ${unknown.id} is not known now.` };
  return { kind: 'unwanted', reason: unwantedOf(allowedSatributes, placed.inscriptions) };
}

/** Coins in the order in which they are spent; null: in no order are the inscriptions on allowed sats. */
type PlacedCoins =
  | { readonly coins: readonly KnownCoin[] | null; readonly inscriptions: number }
  | (Pick<OrderRefusal, 'reason' | 'missing'> & { readonly coins: readonly KnownCoin[] });

/**
 * Coins that have allowed sats below the inscriptions, then those that it takes to pay. Places in a commit depend on
 * how many coins pay for it: they are looked for again where the coins are others than those that they were found for.
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

/** Places are found for the coins of the try before; two sets that take turns have none. */
const triesMax = 3;

/** How many coins come before the one after a place, that is, have the sats up to it. */
function countUpTo(coins: readonly KnownCoin[], place: number): number {
  let sats = 0n;
  const last = coins.findIndex(({ value }) => (sats += value) > BigInt(place));
  return last + 1;
}

const unwantedOf = (allowed: readonly string[], count: number): string =>
  count === 1
    ? `The first sat of no output that was paid is ${allowed.join(' or ')}, as allowedSatributes asks.`
    : `The sats that were paid are not ${allowed.join(' or ')} where the ${count} inscriptions would lie, as allowedSatributes asks.`;
