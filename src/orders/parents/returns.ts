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

/**
 * An unspent output with an inscription or a rune. The complete output is returned, and its sats keep their positions.
 */
export interface Holding {
  readonly payment: WatchedPayment;
  /** The deposit address where the output arrived. Null if the output is at the address of the charge. */
  readonly at: DepositAddress | null;
  /** Whether the output holds a parent of the order. */
  readonly isParent: boolean;
  /** Whether the output is below the dust limit of its destination, so it needs more sats. */
  readonly isDust: boolean;
  readonly inscriptions: readonly HeldInscription[];
  /** null: unknown. */
  readonly runes: readonly RuneAmount[] | null;
}

/** A payment with an inscription or a rune to the address of the charge. It is deep enough to be spent. */
export type PaidHolding = Pick<HeldPayment, 'isParent' | 'inscriptions' | 'runes'> & {
  readonly payment: WatchedPayment;
};

/** Facts that decide what is returned. */
export interface ReturnFacts {
  readonly state: OrderState;
  readonly facts: Pick<OrderFacts, 'costs' | 'expiresAt' | 'now' | 'tip' | 'confirmations'>;
  readonly deposits: readonly Deposit[];
  /** The deposits that the order will use as its parents. */
  readonly candidates: readonly (Deposit | undefined)[];
  /** Outputs that stored transactions spend. */
  readonly spent: ReadonlySet<string>;
  /** Payments to the address of the charge. */
  readonly payments: readonly OrderPayment[];
  /** Unspent payments that hold an inscription or a rune. */
  readonly holding: readonly PaidHolding[];
  /** Dust limit of the refund address. Null if there is no refund address. */
  readonly refundDust: bigint | null;
  /** Confirmed and unspent money of customers. */
  readonly owed: readonly OwedMoney[];
  /** Our confirmed and unspent money from the delivery. */
  readonly ours: readonly OwedMoney[];
  /** Sats of `ours` that belong to a referral. */
  readonly share: bigint;
  /** Cost of the order's returns so far, in sats of the service and of the operator. */
  readonly ourCost: bigint;
  /** Cost of the returns of strays so far, in sats of the customer. Strays are holdings that are not parents. */
  readonly strayCost: bigint;
  /**
   * Maximum cost of an order's returns (ORDER_RETURN_MAX_SATS). It limits our sats, and also the customer's sats that
   * are spent on strays.
   */
  readonly costMax: bigint;
  /** Whether money of an earlier transaction is not in a block yet. */
  readonly isMoneyComing: boolean;
}

/** Money that may pay for a return. The change goes back to the owner of the money. */
export type ReturnFund = {
  /** Maximum cost of the return in sats of this money. Null if there is no maximum. */
  readonly costMax: bigint | null;
} & (
  | { readonly kind: 'customer'; readonly money: readonly OwedMoney[]; readonly sats: readonly Deposit[] }
  | { readonly kind: 'service'; readonly money: readonly [OwedMoney] }
  /** A free coin of the service that belongs to no order. */
  | { readonly kind: 'operator' }
);

export interface Return {
  /** The holdings to return. Empty if only sats are returned, which pay for themselves. */
  readonly holdings: readonly Holding[];
  /** Funds in the sequence in which they are tried. The first fund that is enough pays. */
  readonly funds: readonly ReturnFund[];
  /** Whether nothing else needs a return, so that the remaining money is not needed either. */
  readonly isLast: boolean;
}

/**
 * Maximum number of holdings, and of pieces of money, in one return. The next return takes the other holdings. A
 * holding is an input and an output with at most 410 weight units together. A piece of money is an input with 230
 * weight units. All of them together are far below the 400,000 weight units that nodes relay.
 */
export const returnedAtOnce = 50;

/** States in which an order waits for payments and parents. */
const waiting: readonly OrderState[] = ['waiting-payment', 'waiting-parent', 'waiting-confirmation'];

/**
 * Decides what is returned now, and which money may pay for it. While an order waits, only outputs that are not its
 * parents are returned, and only money beyond its amount pays. Once the order is delivered or over, everything left is
 * returned, and all money of the order may pay. For parents, all of the customer's money may pay. Strays are other
 * outputs with an inscription or a rune. Anyone may send strays, so strays may cost the customer only a little. Outputs
 * with only sats pay for themselves, or stay. If the customer has no money, our money pays a little. Sats of a holding
 * never pay. Returns null if nothing is returned now. Pure.
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
    // while an order waits, holdings in payments are treated as its payment
    ...(isWaiting ? [] : paidHoldings(given)),
  ];
  if (holdings.length === 0) return sats.length === 0 ? null : returnOfSats(sats);
  const parents = holdings.filter(({ isParent }) => isParent);
  const first = parents.length > 0 ? parents : holdings;
  const batch = together(first);
  const funds = fundsOf(given, { isWaiting, sats, areStrays: parents.length === 0 });
  // wait, because money that could pay is not in a block yet
  if (funds.every(({ kind }) => kind !== 'customer') && given.isMoneyComing) return null;
  return { holdings: batch, funds, isLast: batch.length === holdings.length };
}

/** Whether a deposit holds more than sats. */
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

/** A return of sats that pay for themselves, one deposit address after the other. */
function returnOfSats(sats: readonly Deposit[]): Return {
  const byAddress = [...Map.groupBy(sats, ({ at }) => at.index).values()];
  const funds = byAddress.map((of): ReturnFund => {
    return { kind: 'customer', money: [], sats: largestOf(of), costMax: null };
  });
  return { holdings: [], funds, isLast: false };
}

/** Picks the holdings of one return. */
function together(holdings: readonly Holding[]): readonly Holding[] {
  // take only one holding below dust, because raising its value takes sats of the money, which comes after the holdings
  const whole = holdings.filter(({ isDust }) => !isDust).slice(0, returnedAtOnce - 1);
  const batch = [...whole, ...holdings.filter(({ isDust }) => isDust).slice(0, 1)];
  // take only one holding, because unknown runes can have only one destination
  return batch.some(({ runes }) => runes === null) ? batch.slice(0, 1) : batch;
}

/** The money that one transaction spends, the largest amounts first if there are too many. */
function largestOf<Money extends OwedMoney | Deposit>(money: readonly Money[]): readonly Money[] {
  return money.length <= returnedAtOnce
    ? money
    : money.toSorted((a, b) => Number(satsOf(b) - satsOf(a))).slice(0, returnedAtOnce);
}

const satsOf = (money: OwedMoney | Deposit): bigint =>
  'payment' in money ? money.payment.value : money.value;

interface FundsWanted {
  readonly isWaiting: boolean;
  /** Deposits with only sats. */
  readonly sats: readonly Deposit[];
  readonly areStrays: boolean;
}

/** Money that may pay for a return, the customer's first. */
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
  // our output with an excess payment is not used, because its refund splits it first
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

/** Our money that may pay: revenue of the order, then a coin that belongs to no order. */
function ownFunds({ ours, share, ourCost, costMax }: ReturnFacts): ReturnFund[] {
  const open = costMax - ourCost;
  if (open <= 0n) return [];
  const [revenue] = ours.toSorted((a, b) => Number(b.value - a.value));
  const operator: ReturnFund = { kind: 'operator', costMax: open };
  if (revenue === undefined || revenue.value <= share) return [operator];
  return [{ kind: 'service', money: [revenue], costMax: smallest(open, revenue.value - share) }, operator];
}

/**
 * Whether something worth a return waits, or may wait, for its return. It must be in a block, and no stored transaction
 * may spend it.
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
 * Whether a parent of the order must be returned, or may have to be returned. If so, all money of the order may pay for
 * its return. Outputs without a block do not hold money back, because anyone may send such outputs and never have them
 * mined. Pure.
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

/**
 * Money that pays for returns while an order waits. It consists of payments that the delivery would not spend, or that
 * are not valid.
 */
function spareMoney({ facts, payments, holding, owed }: ReturnFacts): readonly OwedMoney[] {
  const holders = new Set(holding.map(({ payment }) => outpointOf(payment)));
  const counted = countedDeep({ ...facts, payments });
  const isPlain = ({ outpoint }: OrderPayment): boolean => !holders.has(outpoint);
  const needed = selectPlainFirst(counted, isPlain, facts.costs) ?? counted;
  const kept = new Set(needed.map(({ outpoint }) => outpoint));
  return owed.filter((money) => !kept.has(outpointOf(money)));
}

/** The reason why a holding is not returned, for the customer and the operator. */
export const returnShort = ({ address }: Pick<Order, 'address'>, missing: bigint | null): string =>
  `${depositsWait}an inscription or runes, at a deposit address or in a payment. The return needs ${missing === null ? 'more money' : `${missing} more sats`}. Send ${missing === null ? 'at least 2000 sats' : 'these sats'} to ${address}. What is left goes to refundAddress.`;

/** The reason why sats at deposits are not returned. */
export const satsTooFew = `${depositsWait}the sats at the deposit addresses are less than the fee to send them.`;

/** The reason why an inscription or a rune of a payment is not returned. */
export const noReturnAddress = `${depositsWait}an inscription or runes at the address of the charge, because the order has no refundAddress. Write to the operator of this service, who can send them to your address.`;
