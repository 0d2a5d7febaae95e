import type { Height } from '#kernel/primitives/height.ts';
import { p2trDust } from '#orders/inscribing/plan-amounts.ts';
import { unminedCountsMs } from '#payments/unmined-payment.ts';
import { type Coin, type CoinCosts, selectCoins } from './coin-selection.ts';
import type { OrderEvent, OrderState } from './order-machine.ts';

/** A payment to an order's address, as the tables of payments show it. */
export interface OrderPayment extends Coin {
  /** Null: in no block. */
  readonly height: Height | null;
  /** It is in no block and not in the mempool. */
  readonly isGone: boolean;
  /** A refund, or what sends a deposit home, spends it: it pays for nothing else. */
  readonly isTaken: boolean;
  /** A stored transaction of the delivery spends it. */
  readonly isUsed: boolean;
  /** The index has an inscription in it, so it is returned whole. False where the order wants certain sats. */
  readonly isInscribed: boolean;
}

/**
 * How far the parents of an order are. `missing`: of one of them, nothing that may be it came to its deposit in time.
 * `seen`: something did. `here`: the index has each of them there, as deep as is asked; so is an order without parents.
 */
export type ParentsProgress = 'missing' | 'seen' | 'here';

/**
 * How far the rune of an order is, beside its sats. `missing`: nothing of it came. `part`: too little is credited.
 * `seen`: a payment that may be it waits. `here`: all of it is credited, or the delivery was sent. `over`: it did not
 * come in time.
 */
export type RuneProgress = 'missing' | 'part' | 'seen' | 'here' | 'over';

/** What decides what happens to an order next. */
export interface OrderFacts {
  readonly costs: CoinCosts;
  readonly expiresAt: Date;
  readonly now: Date;
  /** The last block that payments were looked for in; null: none was. */
  readonly tip: Height | null;
  /** How deep payments of this amount must lie. */
  readonly confirmations: number;
  readonly payments: readonly OrderPayment[];
  readonly parents: ParentsProgress;
  /** Null: it asks for sats alone. */
  readonly rune: RuneProgress | null;
  /** Something came to the deposit of a parent. */
  readonly hasDeposits: boolean;
  /** Its customer wants it cancelled. */
  readonly isCancelAsked: boolean;
  /** It failed because what was paid did not pay for its transactions: as earlier versions left such orders. */
  readonly wasShort: boolean;
  /** It was asked for more than it was made for: its customer may take everything back. */
  readonly isRepriced: boolean;
  /** It was paid once, and its delivery was decided about. */
  readonly wasPaid: boolean;
  /** The sat of the inventory that it has reserved is not to be had any more. */
  readonly isSatGone: boolean;
  /** A reveal is stored whose payments are all there. */
  readonly hasReveal: boolean;
  /**
   * The index has the inscriptions of that reveal, deep enough; those that are to be burned, where their burn sent
   * them.
   */
  readonly isRevealed: boolean;
  /** A block has a transaction of a stranger that took one of them from its anchor, before its burn was mined. */
  readonly isAnchorTaken: boolean;
  /** Its reveal is stored, and may not be mined yet: its commit is not deep enough to etch a name. */
  readonly isRevealHeld: boolean;
  /** It mints, and inscribes nothing. */
  readonly isMinting: boolean;
  /** A block has its reveal, and another transaction has etched the name. */
  readonly isNameLost: boolean;
  /**
   * A miner was to take the reveal, which it refused, or which no block had in time; or the sats of all files are
   * gone for good; or its name cannot be etched; or all of its mints were given up.
   */
  readonly isUnmined: boolean;
  /**
   * What pays money back or sends deposits home: stored, with all that it spends; `deep`: and nothing else is left.
   * Null: nothing is stored.
   */
  readonly refund: 'sent' | 'deep' | null;
}

/** The times that decide whether something counts. */
export type Times = Pick<OrderFacts, 'expiresAt' | 'now'>;

type PaidFacts = Times & Pick<OrderFacts, 'costs' | 'tip' | 'confirmations' | 'payments' | 'hasReveal'>;

/** Whether payments in time pay for the order: those that are seen, and those that are as deep as is asked. */
export function paidInTime(facts: PaidFacts): { readonly isSeen: boolean; readonly isDeep: boolean } {
  // they paid for it when it was made
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

/** The payments that count and are as deep as is asked: a delivery may spend them. */
export const countedDeep = (
  facts: Times & Pick<OrderFacts, 'tip' | 'confirmations' | 'payments'>,
): readonly OrderPayment[] =>
  facts.payments.filter((payment) => countsInTime(payment, facts) && isDeep(payment, facts));

/**
 * Whether a payment counts: there, first seen before the time was over, and not dust, which nodes do not relay.
 * Whether it is spent, and what it is worth, says `selectCoins`. Whatever does not count is the customer's.
 */
export function countsInTime(
  payment: Omit<OrderPayment, keyof Coin | 'isUsed'> & Pick<Coin, 'firstSeen' | 'value'>,
  times: Times,
): boolean {
  return isInTime(payment, times) && payment.value >= p2trDust && !payment.isTaken && !payment.isInscribed;
}

/** Whether something is there, was first seen before the time was over, and has a block soon after that. */
export function isInTime(
  { isGone, firstSeen, height }: Pick<OrderPayment, 'isGone' | 'firstSeen' | 'height'>,
  { expiresAt, now }: Times,
): boolean {
  const isLost = height === null && now.getTime() > expiresAt.getTime() + unminedCountsMs;
  return !isGone && !isLost && firstSeen <= expiresAt;
}

/** Whether a payment lies as deep as is asked. */
export function isDeep(
  { height }: Pick<OrderPayment, 'height'>,
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

const holdsAny = ({ payments, hasDeposits }: OrderFacts): boolean =>
  hasDeposits || payments.some(({ isGone }) => !isGone);

/** The amount is seen, and so are the parents: `paid` where all of it is deep. Null: something is missing. */
function paidEvent(facts: OrderFacts): 'paid' | 'seen' | null {
  const paid = paidInTime(facts);
  if (!paid.isSeen || facts.parents === 'missing' || !isRuneSeen(facts)) return null;
  return paid.isDeep && facts.parents === 'here' && isRuneHere(facts) ? 'paid' : 'seen';
}

/** Whether the rune that an order asks for is credited; so it is where it asks for none. */
export const isRuneHere = ({ rune }: Pick<OrderFacts, 'rune'>): boolean => rune === null || rune === 'here';

const isRuneSeen = (facts: Pick<OrderFacts, 'rune'>): boolean => isRuneHere(facts) || facts.rune === 'seen';

/** The time of a price in a rune ends with its token order, which knows of payments that are found out late. */
const isRuneOpen = ({ rune }: OrderFacts): boolean => rune !== null && rune !== 'over';

/** Whether nothing of a rune came that a cancellation would leave with the creator. */
const isRuneMissing = ({ rune }: OrderFacts): boolean =>
  rune === null || rune === 'missing' || rune === 'over';

/** The event that stored transactions of a paid order are. */
function plannedEvent({
  hasReveal,
  isRevealHeld,
  isMinting,
}: OrderFacts): 'planned' | 'committed' | 'minting' | null {
  if (!hasReveal) return null;
  if (isMinting) return 'minting';
  return isRevealHeld ? 'committed' : 'planned';
}

/** What happens to an order that waits and gets nothing. */
function unpaidEvent(facts: OrderFacts): OrderEvent | null {
  if (facts.isCancelAsked && isRuneMissing(facts) && (facts.isRepriced || !holdsAny(facts)))
    return 'cancelled';
  // no money is asked for that would have to go back
  if (facts.isSatGone && !holdsAny(facts)) return 'timeout';
  if (isRuneOpen(facts) || (facts.rune === null && facts.now <= facts.expiresAt)) return null;
  return holdsAny(facts) ? 'owing' : 'timeout';
}

/** The facts are looked at for what changes each state, the most decisive first. */
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
    // a part of the payment is gone that its reveal spends: what is left pays for another one
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
    // it was paid in time, and that was found out late, or taken back by a reorganisation for a while
    return payment ?? (holdsAny(facts) ? 'owing' : null);
  },
  cancelled: (facts) => (holdsAny(facts) ? 'owing' : null),
  'waiting-refund': (facts) => {
    // it is given up before it is looked at
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
 * known late, while dust of a stranger was there.
 */
export const paidAfterAll = (facts: OrderFacts): 'paid' | 'seen' | null =>
  facts.wasPaid || facts.isCancelAsked || facts.isRepriced || facts.refund !== null ? null : paidEvent(facts);

/**
 * A block has a reveal that was given up: it is taken up again, and nothing else can spend its payments. Or a
 * reorganisation gave back what a stranger took.
 */
const isBackInDelivery = (facts: OrderFacts): boolean =>
  facts.hasReveal && !facts.isAnchorTaken && !facts.isUnmined && lostPayment(facts) === null;

/** What a reorganisation does to an order that was paid, or with `seen` to one whose payment was seen. */
function lostPayment(facts: OrderFacts, needed: 'paid' | 'seen' = 'paid'): OrderEvent | null {
  if (!paidInTime(facts).isSeen || !isRuneSeen(facts)) return 'gone';
  if (facts.parents === 'missing') return 'parentless';
  return needed === 'paid' && paidEvent(facts) !== 'paid' ? 'unpaid' : null;
}
