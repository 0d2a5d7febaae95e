import { whyUnknown } from '#kernel/satributes/satribute.ts';
import type { SatributeBook } from '#kernel/satributes/satribute-book.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { inscribedPlaces, type SpentValues } from '#orders/inscribing/inscribed-places.ts';
import type { Order } from '#orders/order/order.store.ts';
import { termsOf } from '#orders/order/stored-terms.ts';
import { quotedLayout } from '#orders/pricing/quoted-layout.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import type { ArrivedSats } from './arrived-sats.ts';
import { placePayments } from './place-payments.ts';

/** How the payments of an order are spent, where it says which sats it wants. */
export type PlacedPayments =
  /** In this order; of most orders in any. */
  | { readonly kind: 'placed'; readonly payments: readonly WatchedPayment[] }
  /** Their sats are being looked up. */
  | { readonly kind: 'pending' }
  /** No inscription is made with them. The reason is for people. */
  | { readonly kind: 'unwanted'; readonly reason: string }
  /** Nothing can be made of them, or their sats are not known. */
  | { readonly kind: 'impossible'; readonly reason: string };

/** What a paid order spends. */
export interface PaidFunds extends Pick<SpentValues, 'parents'> {
  readonly payments: readonly WatchedPayment[];
}

/** Each is a walk through the chain. A special sat comes in one output, and fees in another one or two. */
const paymentsMax = 20;

/** What is known of sats. */
export interface KnownSats {
  readonly arrived: Pick<ArrivedSats, 'of'>;
  /** The definitions that are in force. */
  readonly satributes: SatributeBook;
}

/** Looks at the sats that arrived for an order, whatever its customer's wallet was asked to send. */
export function placeSats(
  { id, request, quote, terms: stored }: Pick<Order, 'id' | 'request' | 'quote' | 'terms'>,
  { payments, parents }: PaidFunds,
  { arrived, satributes }: KnownSats,
): PlacedPayments {
  const { allowedSatributes } = request;
  if (allowedSatributes === null) return { kind: 'placed', payments };
  if (payments.length > paymentsMax)
    return {
      kind: 'unwanted',
      reason: `It was paid in ${payments.length} outputs: of more than ${paymentsMax} the sats are not looked up.`,
    };
  const known: { readonly payment: WatchedPayment; readonly ranges: readonly SatRange[] }[] = [];
  for (const [place, found] of payments.map((payment) => arrived.of(id, payment)).entries()) {
    if (found.kind === 'unknown')
      return { kind: 'impossible', reason: `The sats that were paid are not known: ${found.reason}.` };
    const payment = payments[place];
    if (found.kind === 'known' && payment !== undefined) known.push({ payment, ranges: found.ranges });
  }
  if (known.length < payments.length) return { kind: 'pending' };
  const allowed = allowedSatributes.flatMap((name) => satributes.find(name) ?? []);
  const terms = termsOf(stored);
  const inscribed = inscribedPlaces(terms, quotedLayout(terms, quote), { payments, parents });
  if (inscribed.kind === 'refused') return { kind: 'impossible', reason: inscribed.reason };
  const placed = placePayments(known, allowed, inscribed.places);
  if (placed !== null) return { kind: 'placed', payments: placed.map(({ payment }) => payment) };
  // a rule that was there when the order was made may be traced anew, or left out of the settings by mistake
  const unknown = allowed.find(({ rule }) => whyUnknown(rule) !== null);
  if (unknown !== undefined)
    return { kind: 'impossible', reason: `Which sats are ${unknown.id} is not known now.` };
  return { kind: 'unwanted', reason: unwantedOf(allowedSatributes, inscribed.places.length) };
}

const unwantedOf = (allowed: readonly string[], count: number): string =>
  count === 1
    ? `The first sat of no output that was paid is ${allowed.join(' or ')}, as allowedSatributes asks.`
    : `The sats that were paid are not ${allowed.join(' or ')} where the ${count} inscriptions would lie, as allowedSatributes asks.`;
