import type { Height } from '#kernel/primitives/height.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import { unminedCountsMs } from '#payments/unmined-payment.ts';
import { type Coin, type CoinCosts, selectCoins } from './coin-selection.ts';
import type { OrderEvent, OrderState } from './order-machine.ts';

/** A payment to an order's address, from the tables of payments. */
export interface OrderPayment extends Coin {
  /** Null: not in a block. */
  readonly height: Height | null;
  /** Neither in a block nor in the mempool. */
  readonly isGone: boolean;
  /** A refund or a return of a deposit spends it: it pays for nothing else. */
  readonly isTaken: boolean;
  /** A stored transaction of the delivery spends it. */
  readonly isUsed: boolean;
  /** The index has an inscription in it, so it is returned whole. False if the order wants certain sats. */
  readonly isInscribed: boolean;
}

/**
 * Progress of an order's parents. `missing`: for one of them, nothing that may be it arrived at its deposit in time.
 * `seen`: something did for each. `here`: the index has each of them there, deep enough, or the order has no parents.
 */
export type ParentsProgress = 'missing' | 'seen' | 'here';

/**
 * Progress of an order's rune payment. `missing`: nothing arrived. `part`: too little is credited. `seen`: a payment
 * that may be it waits. `here`: all of it is credited, or the delivery was sent. `over`: it did not arrive in time.
 */
export type RuneProgress = 'missing' | 'part' | 'seen' | 'here' | 'over';

/** Facts that decide the next event of an order. */
export interface OrderFacts {
  readonly costs: CoinCosts;
  readonly expiresAt: Date;
  readonly now: Date;
  /** The last block that was searched for payments; null: none. */
  readonly tip: Height | null;
  /** Confirmations that payments of this amount need. */
  readonly confirmations: number;
  readonly payments: readonly OrderPayment[];
  readonly parents: ParentsProgress;
  /** Null: its price is sats alone. */
  readonly rune: RuneProgress | null;
  /** Something arrived at the deposit of a parent. */
  readonly hasDeposits: boolean;
  /** Its customer has requested the cancellation. */
  readonly isCancelAsked: boolean;
  /** It failed because its payments did not pay for its transactions: earlier versions left orders in this state. */
  readonly wasShort: boolean;
  /** Its price was raised: its customer may take everything back. */
  readonly isRepriced: boolean;
  /** It was paid once, and its delivery was decided. */
  readonly wasPaid: boolean;
  /** The inventory sat that it has reserved is no longer available. */
  readonly isSatGone: boolean;
  /** A reveal is stored, and all payments that it spends are present. */
  readonly hasReveal: boolean;
  /**
   * The index has the inscriptions of that reveal, deep enough; inscriptions to burn are where their burn sent them.
   */
  readonly isRevealed: boolean;
  /** Another transaction in a block took one of them from its anchor, before its burn was mined. */
  readonly isAnchorTaken: boolean;
  /** Its reveal is stored, but may not be mined yet: its commit is not deep enough to etch a name. */
  readonly isRevealHeld: boolean;
  /** It mints, and inscribes nothing. */
  readonly isMinting: boolean;
  /** Its reveal is in a block, and another transaction has etched the name. */
  readonly isNameLost: boolean;
  /**
   * Its reveals cannot be mined: the miner refused it or did not mine it in time, the sats of all files are gone for
   * good, its name cannot be etched, or all of its mints were given up.
   */
  readonly isUnmined: boolean;
  /**
   * Refunds and returns of deposits. `sent`: stored, with all outputs that they spend. `deep`: and nothing else
   * remains. Null: none is stored.
   */
  readonly refund: 'sent' | 'deep' | null;
}

/** The times that decide whether something counts. */
export type Times = Pick<OrderFacts, 'expiresAt' | 'now'>;

type PaidFacts = Times & Pick<OrderFacts, 'costs' | 'tip' | 'confirmations' | 'payments' | 'hasReveal'>;

/** Whether payments in time pay for the order: those that are seen, and those that are deep enough. */
export function paidInTime(facts: PaidFacts): { readonly isSeen: boolean; readonly isDeep: boolean } {
  // they paid for the reveal when it was made
  if (facts.hasReveal)
    return {
      isSeen: true,
      isDeep: facts.payments.every((payment) => !payment.isUsed || isDeep(payment, facts)),
    };
  const inTime = facts.payments.filter((payment) => countsInTime(payment, facts));
  return {
    isSeen: selectCoins(inTime, facts.costs) !== null,
    isDeep: selectCoins(countedDeep(facts), facts.costs) !== null,
  };
}

/** The payments that count and are deep enough: a delivery may spend them. */
export const countedDeep = (
  facts: Times & Pick<OrderFacts, 'tip' | 'confirmations' | 'payments'>,
): readonly OrderPayment[] =>
  facts.payments.filter((payment) => countsInTime(payment, facts) && isDeep(payment, facts));

/**
 * Whether a payment counts: present, first seen in time, and not dust, which nodes do not relay. `selectCoins` decides
 * whether it is spent, and what it is worth. A payment that does not count is the customer's.
 */
export function countsInTime(
  payment: Omit<OrderPayment, keyof Coin | 'isUsed'> & Pick<Coin, 'firstSeen' | 'value'>,
  times: Times,
): boolean {
  return isInTime(payment, times) && payment.value >= p2trDust && !payment.isTaken && !payment.isInscribed;
}

/** Whether an output is present, was first seen in time, and got a block soon after the end of that time. */
export function isInTime(
  { isGone, firstSeen, height }: Pick<OrderPayment, 'isGone' | 'firstSeen' | 'height'>,
  { expiresAt, now }: Times,
): boolean {
  const isLost = height === null && now.getTime() > expiresAt.getTime() + unminedCountsMs;
  return !isGone && !isLost && firstSeen <= expiresAt;
}

/** Whether a payment is deep enough. */
export function isDeep(
  { height }: Pick<OrderPayment, 'height'>,
  { tip, confirmations }: Pick<OrderFacts, 'tip' | 'confirmations'>,
): boolean {
  return height !== null && tip !== null && tip - height + 1 >= confirmations;
}

/**
 * The next event of an order in this state, from its facts; null: none. Repeated application ends: each event changes
 * the state, and no two states lead to each other with the same facts (a test tries all). Pure.
 */
export function nextEvent(state: OrderState, facts: OrderFacts): OrderEvent | null {
  return eventIn[state](facts);
}

const holdsAny = ({ payments, hasDeposits }: OrderFacts): boolean =>
  hasDeposits || payments.some(({ isGone }) => !isGone);

/** The amount and the parents are seen: `paid` if all of it is deep. Null: something is missing. */
function paidEvent(facts: OrderFacts): 'paid' | 'seen' | null {
  const paid = paidInTime(facts);
  if (!paid.isSeen || facts.parents === 'missing' || !isRuneSeen(facts)) return null;
  return paid.isDeep && facts.parents === 'here' && isRuneHere(facts) ? 'paid' : 'seen';
}

/** Whether the order's rune is credited, or it has none. */
export const isRuneHere = ({ rune }: Pick<OrderFacts, 'rune'>): boolean => rune === null || rune === 'here';

const isRuneSeen = (facts: Pick<OrderFacts, 'rune'>): boolean => isRuneHere(facts) || facts.rune === 'seen';

/** The time of a price in a rune ends with its token order, which knows of payments that became known late. */
const isRuneOpen = ({ rune }: OrderFacts): boolean => rune !== null && rune !== 'over';

/** Whether nothing of the rune arrived: after a cancellation it would stay with the creator. */
const isRuneMissing = ({ rune }: OrderFacts): boolean =>
  rune === null || rune === 'missing' || rune === 'over';

/** The event for the stored transactions of a paid order. */
function plannedEvent({
  hasReveal,
  isRevealHeld,
  isMinting,
}: OrderFacts): 'planned' | 'committed' | 'minting' | null {
  if (!hasReveal) return null;
  if (isMinting) return 'minting';
  return isRevealHeld ? 'committed' : 'planned';
}

/** The event of an order that waits and gets nothing. */
function unpaidEvent(facts: OrderFacts): OrderEvent | null {
  if (facts.isCancelAsked && isRuneMissing(facts) && (facts.isRepriced || !holdsAny(facts)))
    return 'cancelled';
  // the sat is gone, so any payment would have to be refunded
  if (facts.isSatGone && !holdsAny(facts)) return 'timeout';
  if (isRuneOpen(facts) || (facts.rune === null && facts.now <= facts.expiresAt)) return null;
  return holdsAny(facts) ? 'owing' : 'timeout';
}

/** Events of each state from the facts, the most decisive first. */
const eventIn: Readonly<Record<OrderState, (facts: OrderFacts) => OrderEvent | null>> = {
  'waiting-payment': (facts) =>
    paidEvent(facts) ?? (facts.parents === 'missing' ? 'parentless' : unpaidEvent(facts)),
  'waiting-parent': (facts) =>
    paidEvent(facts) ?? (facts.parents === 'missing' ? unpaidEvent(facts) : 'arrived'),
  'waiting-confirmation': (facts) => (paidEvent(facts) === 'paid' ? 'paid' : lostPayment(facts, 'seen')),
  prep: (facts) => lostPayment(facts) ?? plannedEvent(facts),
  'waiting-reveal': (facts) => {
    if (!facts.hasReveal) return lostPayment(facts) ?? 'unpaid';
    if (facts.isUnmined) return lostPayment(facts) ?? 'unmined';
    return lostPayment(facts) ?? (facts.isRevealHeld ? null : 'planned');
  },
  'waiting-rune-balance': (facts) => {
    if (!facts.hasReveal) return lostPayment(facts) ?? 'unpaid';
    if (facts.isUnmined) return lostPayment(facts) ?? 'unmined';
    return lostPayment(facts) ?? (facts.isRevealed ? 'revealed' : null);
  },
  queued: (facts) => {
    // a payment that its reveal spends is gone: the remaining ones pay for another reveal
    if (!facts.hasReveal) return lostPayment(facts) ?? 'unpaid';
    if (facts.isAnchorTaken || facts.isNameLost) return lostPayment(facts) ?? 'failed';
    if (facts.isUnmined) return lostPayment(facts) ?? 'unmined';
    return lostPayment(facts) ?? (facts.isRevealed ? 'revealed' : null);
  },
  completed: ({ isRevealed, isNameLost, isMinting }) => {
    if (isMinting) return isRevealed ? null : 'minting';
    return isRevealed && !isNameLost ? null : 'undone';
  },
  expired: (facts) => {
    const payment = facts.isCancelAsked ? null : paidEvent(facts);
    // it was paid in time, but this became known late, or a reorganisation had removed the payment for a while
    return payment ?? (holdsAny(facts) ? 'owing' : null);
  },
  cancelled: (facts) => (holdsAny(facts) ? 'owing' : null),
  'waiting-refund': (facts) => {
    // its reveals are given up before its refund is looked at
    if (facts.hasReveal && facts.isUnmined) return null;
    if (isBackInDelivery(facts)) return plannedEvent(facts);
    if (facts.refund === 'deep') return 'refunded';
    return paidAfterAll(facts) ?? (holdsAny(facts) ? null : 'gone');
  },
  refunded: ({ refund }) => (refund === 'deep' ? null : 'undone'),
  error: (facts) => {
    if (isBackInDelivery(facts) && !facts.isNameLost) return plannedEvent(facts);
    return facts.wasShort && !facts.hasReveal ? 'gone' : null;
  },
};

/**
 * An order that waits for its refund was paid in time after all, and nothing is refunded yet: a payment in time became
 * known late, while there was a stranger's dust.
 */
export const paidAfterAll = (facts: OrderFacts): 'paid' | 'seen' | null =>
  facts.wasPaid || facts.isCancelAsked || facts.isRepriced || facts.refund !== null ? null : paidEvent(facts);

/**
 * A reveal that was given up is in a block: it counts again, and nothing else can spend its payments. Or a
 * reorganisation returned an inscription that another transaction took.
 */
const isBackInDelivery = (facts: OrderFacts): boolean =>
  facts.hasReveal && !facts.isAnchorTaken && !facts.isUnmined && lostPayment(facts) === null;

/** The event after a reorganisation removed a payment of a paid order, or with `seen` of one whose payment was seen. */
function lostPayment(facts: OrderFacts, needed: 'paid' | 'seen' = 'paid'): OrderEvent | null {
  if (!paidInTime(facts).isSeen || !isRuneSeen(facts)) return 'gone';
  if (facts.parents === 'missing') return 'parentless';
  return needed === 'paid' && paidEvent(facts) !== 'paid' ? 'unpaid' : null;
}
