import { smallest } from '#kernel/bitcoin/amount.ts';
import type { HeldInscription, RuneAmount } from '#kernel/contracts/holdings.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import { selectPlainFirst } from '#orders/order/coin-selection.ts';
import type { Order } from '#orders/order/order.store.ts';
import { countedDeep, type OrderFacts, type OrderPayment } from '#orders/order/order-facts.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { type DepositAddress, depositsWait } from './deposits.store.ts';
import type { Deposit } from './deposits.ts';
import type { HeldPayment } from './held-payments.ts';

/** An unspent output with an inscription or a rune. It is returned whole, in its place. */
export interface Holding {
  readonly payment: WatchedPayment;
  /** The deposit where it is; null: it is at the address of the charge. */
  readonly at: DepositAddress | null;
  /** A parent of the order is in it. */
  readonly isParent: boolean;
  /** Below the dust limit of where it goes: it needs more sats for that. */
  readonly isDust: boolean;
  readonly inscriptions: readonly HeldInscription[];
  /** Null: not known. */
  readonly runes: readonly RuneAmount[] | null;
}

/** A payment to the address of the charge with an inscription or a rune, deep enough to be spent. */
export type PaidHolding = Pick<HeldPayment, 'isParent' | 'inscriptions' | 'runes'> & {
  readonly payment: WatchedPayment;
};

/** Facts that decide what is returned. */
export interface ReturnFacts {
  readonly state: OrderState;
  readonly facts: Pick<OrderFacts, 'costs' | 'expiresAt' | 'now' | 'tip' | 'confirmations'>;
  readonly deposits: readonly Deposit[];
  /** The parents as the order will use them. */
  readonly candidates: readonly (Deposit | undefined)[];
  /** Outputs that stored transactions spend. */
  readonly spent: ReadonlySet<string>;
  /** To the address of the charge. */
  readonly payments: readonly OrderPayment[];
  /** Unspent ones of these that hold an inscription or a rune. */
  readonly holding: readonly PaidHolding[];
  /** The dust limit of the refund address; null: there is no address. */
  readonly refundDust: bigint | null;
  /** Customers' money, confirmed and unspent. */
  readonly owed: readonly OwedMoney[];
  /** Ours, confirmed and unspent: of the delivery. */
  readonly ours: readonly OwedMoney[];
  /** What a referral gets of it. */
  readonly share: bigint;
  /** Sats of ours, and of the operator's, that returns of the order took. */
  readonly ourCost: bigint;
  /** Sats of the customer's that returns of strays took. */
  readonly strayCost: bigint;
  /** Sats that returns of one order may take of ours (ORDER_RETURN_MAX_SATS), and strays of the customer's. */
  readonly costMax: bigint;
  /** Money that an earlier transaction left is in no block yet. */
  readonly isMoneyComing: boolean;
}

/** Money that may pay for a return. What it leaves goes back to whose it is. */
export type ReturnFund = {
  /** Sats of it that the return may cost; null: as many as it takes. */
  readonly costMax: bigint | null;
} & (
  | { readonly kind: 'customer'; readonly money: readonly OwedMoney[]; readonly sats: readonly Deposit[] }
  | { readonly kind: 'service'; readonly money: readonly [OwedMoney] }
  /** A free coin of the service, of no order. */
  | { readonly kind: 'operator' }
);

export interface Return {
  /** Empty: nothing but sats is returned, which pay for themselves. */
  readonly holdings: readonly Holding[];
  /** The first that is enough pays. */
  readonly funds: readonly ReturnFund[];
  /** Nothing is left to return, so nothing else needs the rest of the money. */
  readonly isLast: boolean;
}

/**
 * Holdings, and pieces of money, of one return; the others are of the next one. A holding is an input and an output
 * with at most 410 weight units, a piece of money one with 230: far below the 400,000 that nodes relay.
 */
export const returnedAtOnce = 50;

/** States of orders that wait for what they use. */
const waiting: readonly OrderState[] = ['waiting-payment', 'waiting-parent', 'waiting-confirmation'];

/**
 * Decides what is to be returned now, and who may pay for it. While an order waits, that is what is not its parent, and
 * only money beyond its amount pays; once it is delivered or over, all that is left, and all money of the order.
 * Parents are worth any of the customer's money. Strays are what else has an inscription or a rune: anyone may send
 * them, so they cost the customer little. Nothing but sats pays for itself, or stays. Where the customer has no money,
 * ours pays a little. The sats of a holding never pay. Null: nothing is returned now. Pure.
 */
export function returnOf(given: ReturnFacts): Return | null {
  const { state, spent, candidates } = given;
  const isWaiting = waiting.includes(state);
  if (!isWaiting && state !== 'completed' && state !== 'waiting-refund') return null;
  const left = given.deposits.filter(
    (deposit) =>
      (deposit.state === 'here' || deposit.state === 'other') &&
      !spent.has(outpointOf(deposit.payment)) &&
      !(isWaiting && candidates.includes(deposit)),
  );
  const sats = left.filter((deposit) => !isPrecious(deposit));
  const holdings = [
    ...left.filter(isPrecious).map(holdingOf),
    // while an order waits, they are its payment
    ...(isWaiting ? [] : paidHoldings(given)),
  ];
  if (holdings.length === 0) return sats.length === 0 ? null : returnOfSats(sats);
  const parents = holdings.filter(({ isParent }) => isParent);
  const first = parents.length > 0 ? parents : holdings;
  const batch = together(first);
  const funds = fundsOf(given, { isWaiting, sats, areStrays: parents.length === 0 });
  // what pays is on its way
  if (funds.every(({ kind }) => kind !== 'customer') && given.isMoneyComing) return null;
  return { holdings: batch, funds, isLast: batch.length === holdings.length };
}

/** Whether what is at a deposit is more than sats. */
const isPrecious = ({ state, isHolding: holds }: Deposit): boolean => state === 'here' || holds;

const holdingOf = ({ payment, at, state, isDust, inscriptions, runes }: Deposit): Holding => ({
  payment,
  at,
  isParent: state === 'here',
  isDust,
  inscriptions,
  runes,
});

function paidHoldings({ holding, refundDust }: ReturnFacts): Holding[] {
  if (refundDust === null) return [];
  return holding.map((paid) => ({ ...paid, at: null, isDust: paid.payment.value < refundDust }));
}

/** Sats that are returned for themselves: those of one deposit address after the other. */
function returnOfSats(sats: readonly Deposit[]): Return {
  const byAddress = [...Map.groupBy(sats, ({ at }) => at.index).values()];
  const funds = byAddress.map((of): ReturnFund => {
    return { kind: 'customer', money: [], sats: largestOf(of), costMax: null };
  });
  return { holdings: [], funds, isLast: false };
}

/** Picks the holdings that are returned together. */
function together(holdings: readonly Holding[]): readonly Holding[] {
  // what has to be more than it was takes sats of the money, which comes after the holdings: one of them at a time
  const whole = holdings.filter(({ isDust }) => !isDust).slice(0, returnedAtOnce - 1);
  const batch = [...whole, ...holdings.filter(({ isDust }) => isDust).slice(0, 1)];
  // runes that are not known find one home
  return batch.some(({ runes }) => runes === null) ? batch.slice(0, 1) : batch;
}

/** What one transaction spends of the money. */
function largestOf<Money extends OwedMoney | Deposit>(money: readonly Money[]): readonly Money[] {
  return money.length <= returnedAtOnce
    ? money
    : money.toSorted((a, b) => Number(satsOf(b) - satsOf(a))).slice(0, returnedAtOnce);
}

const satsOf = (money: OwedMoney | Deposit): bigint =>
  'payment' in money ? money.payment.value : money.value;

interface FundsWanted {
  readonly isWaiting: boolean;
  /** Deposits of nothing but sats. */
  readonly sats: readonly Deposit[];
  readonly areStrays: boolean;
}

/** Who may pay for a return, first the customer. */
const fundsOf = (given: ReturnFacts, wanted: FundsWanted): ReturnFund[] => [
  ...customerFunds(given, wanted),
  ...(wanted.isWaiting ? [] : ownFunds(given)),
];

function customerFunds(
  given: ReturnFacts,
  { isWaiting, sats: deposited, areStrays }: FundsWanted,
): ReturnFund[] {
  const costMax = areStrays ? given.costMax - given.strayCost : null;
  if (costMax !== null && costMax <= 0n) return [];
  // our output that holds what was paid too much is split by its refund first
  const money = largestOf(
    isWaiting ? spareMoney(given) : given.owed.filter(({ value, owed: theirs }) => value === theirs),
  );
  const sats = largestOf(deposited);
  const fund = (of: Pick<ReturnFund & { kind: 'customer' }, 'money' | 'sats'>): ReturnFund => {
    return { kind: 'customer', ...of, costMax };
  };
  return [
    ...(money.length > 0 ? [fund({ money, sats: [] })] : []),
    ...(sats.length > 0 ? [fund({ money: [], sats })] : []),
    ...(money.length > 0 && sats.length > 0 ? [fund({ money, sats })] : []),
  ];
}

/** Revenue of the order, then a coin of no order. */
function ownFunds({ ours, share, ourCost, costMax }: ReturnFacts): ReturnFund[] {
  const open = costMax - ourCost;
  if (open <= 0n) return [];
  const [revenue] = ours.toSorted((a, b) => Number(b.value - a.value));
  const operator: ReturnFund = { kind: 'operator', costMax: open };
  if (revenue === undefined || revenue.value <= share) return [operator];
  return [{ kind: 'service', money: [revenue], costMax: smallest(open, revenue.value - share) }, operator];
}

/**
 * Whether something that is worth a return waits for one, or may: what is in a block, and spent by no stored
 * transaction.
 */
export function isHolding({
  deposits,
  spent,
  holding,
}: Pick<ReturnFacts, 'deposits' | 'spent'> & { readonly holding: readonly unknown[] }): boolean {
  const isLeft = (deposit: Deposit): boolean =>
    !spent.has(outpointOf(deposit.payment)) &&
    deposit.state !== 'gone' &&
    (deposit.state === 'seen' ? deposit.payment.block !== null : isPrecious(deposit));
  return holding.length > 0 || deposits.some(isLeft);
}

/**
 * Whether a parent of the order is to be returned, or may be: it is worth all money of the order. What a block does not
 * have keeps no money back, as anyone may send it and never have it mined. Pure.
 */
export function isHoldingParents(
  { spent, holding }: Pick<ReturnFacts, 'spent' | 'holding'>,
  deposits: readonly Deposit[],
  candidates: ReturnFacts['candidates'],
): boolean {
  const isParent = (deposit: Deposit): boolean =>
    deposit.state === 'here' ||
    (deposit.state === 'seen' && deposit.payment.block !== null && candidates.includes(deposit));
  return (
    holding.some((paid) => paid.isParent) ||
    deposits.some((deposit) => isParent(deposit) && !spent.has(outpointOf(deposit.payment)))
  );
}

/** Money that pays for returns while an order waits: what its delivery would not spend, or what counts for none. */
function spareMoney({ facts, payments, holding, owed }: ReturnFacts): readonly OwedMoney[] {
  const holders = new Set(holding.map(({ payment }) => outpointOf(payment)));
  const counted = countedDeep({ ...facts, payments });
  const isPlain = ({ outpoint }: OrderPayment): boolean => !holders.has(outpoint);
  const needed = selectPlainFirst(counted, isPlain, facts.costs) ?? counted;
  const kept = new Set(needed.map(({ outpoint }) => outpoint));
  return owed.filter((money) => !kept.has(outpointOf(money)));
}

/** Why a holding is not returned, for the customer and the operator. */
export const returnShort = ({ address }: Pick<Order, 'address'>, missing: bigint | null): string =>
  `${depositsWait}deposit addresses, or came with a payment, goes home once ${missing === null ? 'something' : `${missing} sats more`} pays for it: send ${missing === null ? 'at least 2000 sats' : 'them'} to ${address}. What is left of them goes to refundAddress.`;

/** Why sats at deposits are not returned. */
export const satsTooFew = `${depositsWait}deposit addresses is less than it costs to send it.`;

/** Why an inscription or a rune of a payment is not returned. */
export const holdingHomeless = `${depositsWait}address of the charge holds an inscription or runes, and there is no refundAddress: write to the operator of this service, who sends it to where you say.`;
