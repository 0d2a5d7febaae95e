import type { Height } from '#kernel/primitives/height.ts';
import { p2trDust, valueOf } from './inscribing/plan-amounts.ts';
import type { OrderEvent, OrderState } from './order-machine.ts';

/** A payment to an order's address, as the tables of payments show it. */
export interface OrderPayment {
  /** Sats. */
  readonly value: bigint;
  readonly firstSeen: Date;
  /** Null: in no block. */
  readonly height: Height | null;
  /** It is in no block and not in the mempool. */
  readonly isGone: boolean;
}

/** What decides what happens to an order next. */
export interface OrderFacts {
  readonly amount: bigint;
  readonly expiresAt: Date;
  readonly now: Date;
  /** The last block that payments were looked for in; null: none was. */
  readonly tip: Height | null;
  /** How deep payments of this amount must lie. */
  readonly confirmations: number;
  readonly payments: readonly OrderPayment[];
  /** Its customer wants it cancelled. */
  readonly isCancelAsked: boolean;
  /** A reveal is stored whose payments are all there. */
  readonly hasReveal: boolean;
  /** The index has the inscriptions of that reveal, deep enough. */
  readonly isRevealed: boolean;
  /** A refund is stored and all that it spends is there; null: none is. */
  readonly refund: 'sent' | 'deep' | null;
}

/** The sum of what counts as payment in time: seen, and as deep as is asked. */
export function paidInTime(facts: OrderFacts): { readonly seen: bigint; readonly deep: bigint } {
  const inTime = facts.payments.filter((payment) => countsInTime(payment, facts));
  return {
    seen: valueOf(inTime),
    deep: valueOf(inTime.filter((payment) => isDeep(payment, facts))),
  };
}

/**
 * Whether a payment counts towards the amount: there, not dust, and first seen before the time was over. Dust costs about
 * as much to spend as it holds, and nodes relay none; it is credited all the same.
 */
export function countsInTime(payment: OrderPayment, { expiresAt }: Pick<OrderFacts, 'expiresAt'>): boolean {
  return !payment.isGone && payment.value >= p2trDust && payment.firstSeen <= expiresAt;
}

/** Whether a payment lies as deep as is asked. */
export function isDeep(
  { height }: OrderPayment,
  { tip, confirmations }: Pick<OrderFacts, 'tip' | 'confirmations'>,
): boolean {
  return height !== null && tip !== null && tip - height + 1 >= confirmations;
}

/**
 * The next thing that the facts say has happened to an order in this state; null: nothing has. Applied again and again
 * it comes to an end: each event changes the state, and no two states call each other with the same facts (a test
 * tries all). Pure.
 */
export function nextEvent(state: OrderState, facts: OrderFacts): OrderEvent | null {
  return eventIn[state](facts);
}

const hasMoney = ({ payments }: OrderFacts): boolean => payments.some(({ isGone }) => !isGone);

/** The facts are looked at for what changes each state, the most decisive first. */
const eventIn: Readonly<Record<OrderState, (facts: OrderFacts) => OrderEvent | null>> = {
  'waiting-payment': (facts) => {
    const { seen, deep } = paidInTime(facts);
    if (deep >= facts.amount) return 'paid';
    if (seen >= facts.amount) return 'seen';
    if (facts.isCancelAsked && !hasMoney(facts)) return 'cancelled';
    if (facts.now <= facts.expiresAt) return null;
    return hasMoney(facts) ? 'owing' : 'timeout';
  },
  'waiting-confirmation': (facts) => {
    const { seen, deep } = paidInTime(facts);
    if (deep >= facts.amount) return 'paid';
    return seen >= facts.amount ? null : 'gone';
  },
  prep: (facts) => lostPayment(facts) ?? (facts.hasReveal ? 'planned' : null),
  queued: (facts) => {
    // a part of the payment is gone that its reveal spends: what is left pays for another one
    if (!facts.hasReveal) return lostPayment(facts) ?? 'unpaid';
    return lostPayment(facts) ?? (facts.isRevealed ? 'revealed' : null);
  },
  completed: ({ isRevealed }) => (isRevealed ? null : 'undone'),
  expired: (facts) => {
    const { seen, deep } = paidInTime(facts);
    // it was paid in time, and that was found out late, or taken back by a reorganisation for a while
    if (!facts.isCancelAsked && seen >= facts.amount) return deep >= facts.amount ? 'paid' : 'seen';
    return hasMoney(facts) ? 'owing' : null;
  },
  cancelled: (facts) => (hasMoney(facts) ? 'owing' : null),
  'waiting-refund': (facts) => {
    if (facts.refund === 'deep') return 'refunded';
    return hasMoney(facts) ? null : 'gone';
  },
  refunded: ({ refund }) => (refund === 'deep' ? null : 'undone'),
  error: () => null,
};

/** What a reorganisation does to an order that was paid. */
function lostPayment(facts: OrderFacts): OrderEvent | null {
  const { seen, deep } = paidInTime(facts);
  if (seen < facts.amount) return 'gone';
  return deep < facts.amount ? 'unpaid' : null;
}
