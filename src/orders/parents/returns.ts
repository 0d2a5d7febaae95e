import { largest } from '#orders/inscribing/plan-amounts.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import type { Order } from '#orders/order/order.store.ts';
import {
  countsInTime,
  isDeep,
  type OrderFacts,
  type OrderPayment,
  selectedDeep,
} from '#orders/order/order-facts.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { outpointOf } from '#orders/order/outpoint.ts';
import { depositsWait } from './deposits.store.ts';
import type { Deposit } from './deposits.ts';

/** What decides what goes home. */
export interface ReturnFacts {
  readonly state: OrderState;
  readonly facts: Pick<OrderFacts, 'costs' | 'expiresAt' | 'tip' | 'confirmations'>;
  readonly deposits: readonly Deposit[];
  /** The parents as the order will use them. */
  readonly candidates: readonly (Deposit | undefined)[];
  /** Outputs that stored transactions spend. */
  readonly spent: ReadonlySet<string>;
  /** To the address of the charge. */
  readonly payments: readonly OrderPayment[];
  /** Customers' money, confirmed and unspent. */
  readonly owed: readonly OwedMoney[];
  /** Ours, confirmed and unspent: of the delivery. */
  readonly ours: readonly OwedMoney[];
  /** What a referral gets of it. */
  readonly share: bigint;
  /** Sats of ours that returns of the order took. */
  readonly ourCost: bigint;
  /** Money that an earlier transaction left is in no block yet. */
  readonly isMoneyComing: boolean;
}

export interface Return {
  readonly deposits: readonly Deposit[];
  /** Empty: there is none. */
  readonly money: readonly OwedMoney[];
  /** Where the money is ours: how much of it must stay; null: it is the customer's. */
  readonly ours: bigint | null;
  /** Nothing is left to go home, so nothing else needs the rest of the money. */
  readonly isLast: boolean;
}

/**
 * Sats of ours that returns of one order take at most. A deposit alone goes home in some 220 virtual bytes: so much pays
 * for one at 22 sat/vB, and for several at usual rates: those that come by mistake. Who sends more of them pays for them.
 */
export const ourCostMax = 5000n;
/**
 * Deposits, and pieces of money, of one return; the others are of the next one. A deposit is an input and an output with at
 * most 410 weight units, a piece of money one with 230: far below the 400,000 that nodes relay.
 */
export const returnedAtOnce = 50;

/** States of orders that wait for what they use. */
const waiting: readonly OrderState[] = ['waiting-payment', 'waiting-parent', 'waiting-confirmation'];

/**
 * What lies at deposits and is to go home now, and the money that pays for it. While an order waits, that is what is
 * not its parent, and only money beyond its amount pays; once it is delivered or over, all that is left, and all money
 * of the order. Ours, where there is none, pays a little, and for what holds something. A parent's own sats never pay. Null: nothing goes home now. Pure.
 */
export function returnOf(given: ReturnFacts): Return | null {
  const { state, spent, candidates } = given;
  const isWaiting = waiting.includes(state);
  if (!isWaiting && state !== 'completed' && state !== 'waiting-refund') return null;
  const homeless = given.deposits.filter(
    (deposit) =>
      (deposit.state === 'here' || deposit.state === 'other') &&
      !spent.has(outpointOf(deposit.payment)) &&
      !(isWaiting && candidates.includes(deposit)),
  );
  if (homeless.length === 0) return null;
  const { money, ours } = isWaiting ? { money: spareMoney(given), ours: null } : remainingMoney(given);
  const paidFor = ours === null ? homeless : homeless.filter(({ isHolding: holds }) => holds);
  if (money.length === 0 || paidFor.length === 0)
    return given.isMoneyComing ? null : { deposits: firstOf(homeless), money: [], ours: null, isLast: false };
  const deposits = firstOf(paidFor);
  return { deposits, money: largestOf(money), ours, isLast: deposits.length === homeless.length };
}

/** Those that go home together, before all others. */
function firstOf(homeless: readonly Deposit[]): readonly Deposit[] {
  // what anybody may send keeps nothing else from its home
  const holding = homeless.filter(({ isHolding: holds }) => holds);
  const first = holding.length > 0 ? holding : homeless;
  // what has to be more than it was takes sats of the money, which comes after the deposits: one of them at a time
  const whole = first.filter(({ isDust }) => !isDust).slice(0, returnedAtOnce - 1);
  const together = [...whole, ...first.filter(({ isDust }) => isDust).slice(0, 1)];
  // runes that are not known find one home
  return together.some(({ runes }) => runes === null) ? together.slice(0, 1) : together;
}

/** What one transaction spends of the money. */
const largestOf = (money: readonly OwedMoney[]): readonly OwedMoney[] =>
  money.length <= returnedAtOnce
    ? money
    : money.toSorted((a, b) => Number(b.value - a.value)).slice(0, returnedAtOnce);

/** Whether something lies at a deposit that no stored transaction spends. */
export const isHolding = ({ deposits, spent }: Pick<ReturnFacts, 'deposits' | 'spent'>): boolean =>
  deposits.some((deposit) => deposit.state !== 'gone' && !spent.has(outpointOf(deposit.payment)));

/** Money that pays for returns once an order is delivered or over. */
function remainingMoney({ owed, ours, share, ourCost }: ReturnFacts): Pick<Return, 'money' | 'ours'> {
  // our output that holds what was paid too much is split by its refund first
  const customers = owed.filter(({ value, owed: theirs }) => value === theirs);
  if (customers.length > 0) return { money: customers, ours: null };
  const [most] = ours.toSorted((a, b) => Number(b.value - a.value));
  if (most === undefined || ourCost >= ourCostMax) return { money: [], ours: null };
  return { money: [most], ours: largest(share, most.value - (ourCostMax - ourCost)) };
}

/** Money that pays for returns while an order waits: what its delivery would not spend, or what counts for none. */
function spareMoney({ facts, payments, owed }: ReturnFacts): readonly OwedMoney[] {
  const needed =
    selectedDeep({ ...facts, payments }) ??
    payments.filter((payment) => countsInTime(payment, facts) && isDeep(payment, facts));
  const kept = new Set(needed.map(({ outpoint }) => outpoint));
  return owed.filter((money) => !kept.has(outpointOf(money)));
}

/** Why nothing goes home, for the customer and the operator. */
export const returnShort = ({ address }: Pick<Order, 'address'>, missing: bigint | null): string =>
  `${depositsWait}goes home once ${missing === null ? 'something' : `${missing} sats more`} pays for it: send ${missing === null ? 'at least 2000 sats' : 'them'} to ${address}. What is left of them goes to refundAddress.`;
