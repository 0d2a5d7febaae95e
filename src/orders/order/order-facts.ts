import type { Height } from '#kernel/primitives/height.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import { unminedCountsMs } from '#payments/unmined-payment.ts';
import { type Coin, type CoinCosts, selectCoins } from './coin-selection.ts';
import type { OrderEvent, OrderState } from './order-machine.ts';

/** A payment to an order's address, read from the tables of payments. */
export interface OrderPayment extends Coin {
  /** Height of the payment's block. Null if the payment is not in a block. */
  readonly height: Height | null;
  /** Whether the payment is neither in a block nor in the mempool. */
  readonly isGone: boolean;
  /** Whether a refund or a return of a deposit spends the payment. If so, it pays for nothing else. */
  readonly isTaken: boolean;
  /** Whether a stored transaction of the delivery spends the payment. */
  readonly isUsed: boolean;
  /**
   * Whether the index has an inscription in the output. If so, the complete output is returned. Always false if the
   * order wants certain sats.
   */
  readonly isInscribed: boolean;
}

/**
 * Progress of an order's parents. `missing`: for at least one parent, no possible output arrived at the parent's
 * deposit in time. `seen`: such an output arrived for every parent. `here`: the index has every parent at its deposit,
 * deep enough, or the order has no parents.
 */
export type ParentsProgress = 'missing' | 'seen' | 'here';

/**
 * Progress of an order's rune payment. `missing`: nothing arrived. `part`: too little is credited. `seen`: a possible
 * payment waits to be credited. `here`: the full amount is credited, or the delivery was sent. `over`: the amount did
 * not arrive in time.
 */
export type RuneProgress = 'missing' | 'part' | 'seen' | 'here' | 'over';

/** Facts that decide the next event of an order. */
export interface OrderFacts {
  readonly costs: CoinCosts;
  readonly expiresAt: Date;
  readonly now: Date;
  /** The last block that was searched for payments. Null if no block was searched yet. */
  readonly tip: Height | null;
  /** Confirmations that payments of this amount need. */
  readonly confirmations: number;
  readonly payments: readonly OrderPayment[];
  readonly parents: ParentsProgress;
  /** Progress of the rune payment. Null if the price is in sats only. */
  readonly rune: RuneProgress | null;
  /** Whether something arrived at the deposit of a parent. */
  readonly hasDeposits: boolean;
  /** Whether the customer has requested the cancellation. */
  readonly isCancelAsked: boolean;
  /**
   * Whether the order failed because its payments did not pay for its transactions. Only earlier versions left orders
   * in this state.
   */
  readonly wasShort: boolean;
  /** Whether the price was raised. If so, the customer may take everything back. */
  readonly isRepriced: boolean;
  /** Whether the order was paid once, and its delivery was decided. */
  readonly wasPaid: boolean;
  /** Whether the inventory sat that the order has reserved is no longer available. */
  readonly isSatGone: boolean;
  /** Whether a reveal is stored, and all payments that the reveal spends are present. */
  readonly hasReveal: boolean;
  /**
   * Whether the index has the inscriptions of the reveal, deep enough. Inscriptions to burn must be where their burn
   * sent them.
   */
  readonly isRevealed: boolean;
  /** Whether another transaction in a block took an inscription from its anchor before the burn was mined. */
  readonly isAnchorTaken: boolean;
  /** Whether the reveal is stored, but may not be mined yet because its commit is not deep enough to etch a name. */
  readonly isRevealHeld: boolean;
  /** Whether the order mints runes and inscribes nothing. */
  readonly isMinting: boolean;
  /** Whether the reveal is in a block, but another transaction has etched the name. */
  readonly isNameLost: boolean;
  /**
   * Whether the reveals cannot be mined. There are four possible reasons. The miner refused a reveal or did not mine it
   * in time. The sats of all files are permanently gone. The name cannot be etched. All mints were given up.
   */
  readonly isUnmined: boolean;
  /**
   * State of the refunds and the returns of deposits. `sent`: they are stored, and all outputs that they spend are
   * present. `deep`: they are also deep enough, and nothing else remains to refund. Null if no refund is stored.
   */
  readonly refund: 'sent' | 'deep' | null;
}

/** The times that decide whether a payment or a deposit is in time. */
export type Times = Pick<OrderFacts, 'expiresAt' | 'now'>;

type PaidFacts = Times & Pick<OrderFacts, 'costs' | 'tip' | 'confirmations' | 'payments' | 'hasReveal'>;

/**
 * Whether payments in time pay for the order. `isSeen` includes all payments in time; `isDeep` includes only the
 * payments that are deep enough.
 */
export function paidInTime(facts: PaidFacts): { readonly isSeen: boolean; readonly isDeep: boolean } {
  // the payments already paid for the stored reveal
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

/** The payments that are valid and deep enough. A delivery may spend them. */
export const countedDeep = (
  facts: Times & Pick<OrderFacts, 'tip' | 'confirmations' | 'payments'>,
): readonly OrderPayment[] =>
  facts.payments.filter((payment) => countsInTime(payment, facts) && isDeep(payment, facts));

/**
 * Whether a payment is valid. A valid payment is present, was first seen in time, and is not dust, which nodes do not
 * relay. `selectCoins` decides whether a valid payment is spent, and how much it is worth. An invalid payment still
 * belongs to the customer.
 */
export function countsInTime(
  payment: Omit<OrderPayment, keyof Coin | 'isUsed'> & Pick<Coin, 'firstSeen' | 'value'>,
  times: Times,
): boolean {
  return isInTime(payment, times) && payment.value >= p2trDust && !payment.isTaken && !payment.isInscribed;
}

/** Whether an output is present, was first seen in time, and got a block soon after that time ended. */
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
 * The next event of an order in this state, from its facts. Null if there is no event. Repeated application always
 * ends, because each event changes the state and no two states lead to each other with the same facts (a test tries
 * all). Pure.
 */
export function nextEvent(state: OrderState, facts: OrderFacts): OrderEvent | null {
  return eventIn[state](facts);
}

const holdsAny = ({ payments, hasDeposits }: OrderFacts): boolean =>
  hasDeposits || payments.some(({ isGone }) => !isGone);

/** `paid` if the amount and the parents are deep enough, `seen` if they are only seen. Null if something is missing. */
function paidEvent(facts: OrderFacts): 'paid' | 'seen' | null {
  const paid = paidInTime(facts);
  if (!paid.isSeen || facts.parents === 'missing' || !isRuneSeen(facts)) return null;
  return paid.isDeep && facts.parents === 'here' && isRuneHere(facts) ? 'paid' : 'seen';
}

/** Whether the order's rune is credited, or the order needs no rune. */
export const isRuneHere = ({ rune }: Pick<OrderFacts, 'rune'>): boolean => rune === null || rune === 'here';

const isRuneSeen = (facts: Pick<OrderFacts, 'rune'>): boolean => isRuneHere(facts) || facts.rune === 'seen';

/**
 * Whether a price in a rune can still be paid. Its token order decides when the time ends, because that order also
 * knows payments that became known late.
 */
const isRuneOpen = ({ rune }: OrderFacts): boolean => rune !== null && rune !== 'over';

/**
 * Whether nothing of the rune arrived. If units of the rune arrived, a cancellation would leave them with the creator.
 */
const isRuneMissing = ({ rune }: OrderFacts): boolean =>
  rune === null || rune === 'missing' || rune === 'over';

/** The event that follows if a paid order has stored transactions. */
function plannedEvent({
  hasReveal,
  isRevealHeld,
  isMinting,
}: OrderFacts): 'planned' | 'committed' | 'minting' | null {
  if (!hasReveal) return null;
  if (isMinting) return 'minting';
  return isRevealHeld ? 'committed' : 'planned';
}

/** The event of an order that waits for money and gets none. */
function unpaidEvent(facts: OrderFacts): OrderEvent | null {
  if (facts.isCancelAsked && isRuneMissing(facts) && (facts.isRepriced || !holdsAny(facts)))
    return 'cancelled';
  // the sat is gone, so any payment would have to be refunded
  if (facts.isSatGone && !holdsAny(facts)) return 'timeout';
  if (isRuneOpen(facts) || (facts.rune === null && facts.now <= facts.expiresAt)) return null;
  return holdsAny(facts) ? 'owing' : 'timeout';
}

/** Events of each state, computed from the facts. The most decisive event is checked first. */
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
    // a payment that the reveal spends is gone, so the remaining payments must pay for another reveal
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
    // the order was paid in time, but this became known late, or a reorganisation had removed the payment for a while
    return payment ?? (holdsAny(facts) ? 'owing' : null);
  },
  cancelled: (facts) => (holdsAny(facts) ? 'owing' : null),
  'waiting-refund': (facts) => {
    // the reveals must be given up before the refund is examined
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
 * The event if an order that waits for its refund was paid in time after all, and nothing is refunded yet. This happens
 * if a stranger's dust arrived, and a payment in time became known late.
 */
export const paidAfterAll = (facts: OrderFacts): 'paid' | 'seen' | null =>
  facts.wasPaid || facts.isCancelAsked || facts.isRepriced || facts.refund !== null ? null : paidEvent(facts);

/**
 * Whether the delivery is active again. Either a block has a reveal that was given up, so nothing else can spend its
 * payments. Or a reorganisation returned an inscription that another transaction took.
 */
const isBackInDelivery = (facts: OrderFacts): boolean =>
  facts.hasReveal && !facts.isAnchorTaken && !facts.isUnmined && lostPayment(facts) === null;

/**
 * The event after a reorganisation removed a payment. `needed` is `paid` for a paid order, and `seen` for an order
 * whose payment was only seen.
 */
function lostPayment(facts: OrderFacts, needed: 'paid' | 'seen' = 'paid'): OrderEvent | null {
  if (!paidInTime(facts).isSeen || !isRuneSeen(facts)) return 'gone';
  if (facts.parents === 'missing') return 'parentless';
  return needed === 'paid' && paidEvent(facts) !== 'paid' ? 'unpaid' : null;
}
