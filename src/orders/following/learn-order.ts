import assert from 'node:assert/strict';
import type pg from 'pg';
import { burnedReveals, indexedReveals } from '#chain/inscriptions/reveal.queries.ts';
import { outputStanding } from '#chain/sats/output-standing.queries.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { type OrderBump, readBumps, spentByBumps } from '#orders/bumping/bump.store.ts';
import { p2trDust, valueOf } from '#orders/inscribing/plan-amounts.ts';
import { type Receipt, type Settlement, withReferral } from '#orders/ledger/ledger.ts';
import {
  bumpSettlements,
  excessOf,
  hexOf,
  movedExcess,
  type OwedMoney,
  restsOf,
  settlementsOf,
  shareOf,
  spentBy,
} from '#orders/ledger/settlements.ts';
import { isWorthRefunding } from '#orders/making/plan-refund.ts';
import type { Order } from '#orders/order/order.store.ts';
import { isDeep, type OrderFacts, type OrderPayment } from '#orders/order/order-facts.ts';
import {
  type OrderTransaction,
  readTransactions,
  reviveMined,
  supersede,
} from '#orders/order/order-transactions.store.ts';
import { outpointOf } from '#orders/order/outpoint.ts';
import { candidates, type Deposit, progressOf } from '#orders/parents/deposits.ts';
import { readDeposits } from '#orders/parents/read-deposits.ts';
import { isHolding, type Return, returnOf } from '#orders/parents/returns.ts';
import { keepReservation, type Reservation, readReservation } from '#orders/stock/reservations.store.ts';
import { type StockStanding, stockStanding } from '#orders/stock/stock-standing.ts';
import { refundWatcherOf, watcherOf } from '#orders/watching/watchers.ts';
import { readPayments, type WatchedPayment } from '#payments/payments.queries.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { outputsThere, splitOrphans } from './live-transactions.ts';

/** How deep something must lie to count. */
export interface OrderDepths {
  /** Payments of an amount, before they are spent. */
  readonly confirmationsFor: (amount: bigint) => number;
  /** The inscriptions of a completed order, in the index. */
  readonly finalConfirmations: number;
}

/** What is known of an order, with the rows that it is known from. */
export interface Known {
  readonly facts: OrderFacts;
  /** To its address, seen or gone: in the order of the facts. */
  readonly payments: readonly WatchedPayment[];
  readonly reveals: readonly OrderTransaction[];
  /** Confirmed outputs with customers' money that no stored transaction spends. */
  readonly owed: readonly OwedMoney[];
  /** The parents as the order uses them, in the order of its terms. */
  readonly parents: readonly (Deposit | undefined)[];
  /** What the order has of the inventory, and where that is; null: it wants none. */
  readonly stocked: Stocked | null;
  /** What lies at deposits, and goes home now; null: nothing does. */
  readonly returned: Return | null;
  /** Something lies at a deposit that no stored transaction spends. */
  readonly isHoldingDeposits: boolean;
  /** Blocks have payments or deposits that no stored transaction spends, and that do not lie deep enough for one. */
  readonly isMoneyShallow: boolean;
  readonly receipts: readonly Receipt[];
  readonly settlements: readonly Settlement[];
}

export interface Stocked {
  readonly reservation: Reservation;
  readonly standing: StockStanding;
}

/** Reads what is known of an order. What can never be mined any more is superseded. */
export async function learn(tx: pg.ClientBase, order: Order, depths: OrderDepths, now: Date): Promise<Known> {
  const payments = await readPayments(tx, watcherOf(order.id));
  const offset = await readPaymentsOffset(tx);
  const depth = { tip: offset?.height ?? null, confirmations: depths.confirmationsFor(order.amount) };
  const deposits = await readDeposits(tx, order, depth);
  const bumps = await readBumps(tx, order.id);
  await reviveMined(tx, order.id);
  const made = await readTransactions(tx, order.id);
  const stocked = await stockOf(tx, order, made, now);
  const there = new Set([
    ...outputsThere([...payments, ...deposits.map(({ payment }) => payment)], bumps),
    ...(stocked === null || stocked.standing === 'gone' ? [] : [outpointOf(stocked.reservation)]),
  ]);
  const transactions = await supersedeOrphans(tx, made, there);
  // only returns spend what is ours, and bumps of other orders may have taken it
  const lent = order.terms.parents.length === 0 ? [] : await spentByBumps(tx, order.id);
  const reveals = transactions.filter(({ kind }) => kind === 'reveal');
  const { isRevealed, isAnchorTaken } = await deliveryOf(tx, order, transactions, depths.finalConfirmations);
  const mined = await minedClosings(tx, order, transactions);
  const money = moneyOf(order, {
    payments,
    deposits,
    transactions,
    bumps,
    lent: new Set(lent),
    depth,
    isRevealed,
    mined,
  });
  const parents = candidates(order.terms.parents.length, deposits, order, spentBy(transactions, 'return'));
  const facts: OrderFacts = {
    amount: order.amount,
    expiresAt: order.expiresAt,
    now,
    ...depth,
    payments: money.seen,
    parents: progressOf(parents),
    hasDeposits: deposits.some(({ state }) => state !== 'gone'),
    isCancelAsked: order.isCancelAsked,
    isSatGone: stocked?.standing === 'gone',
    hasReveal: reveals.length > 0,
    isRevealed,
    isAnchorTaken,
    refund: money.refund,
  };
  const { owed, spent, isMoneyShallow } = money;
  const returned = returnedNow(order, facts, { deposits, parents, money });
  return {
    facts,
    payments,
    reveals,
    owed,
    parents,
    stocked,
    returned,
    isHoldingDeposits: isHolding({ deposits, spent }),
    isMoneyShallow,
    receipts: [
      ...payments.flatMap((payment) => receiptOf(payment, 'owed')),
      ...deposits.flatMap(({ payment }) => receiptOf(payment, 'deposit')),
    ],
    settlements: [
      ...settlementsFor(order, { deposits, transactions, isRevealed, mined, money }),
      ...bumpSettlements(bumps),
    ],
  };
}

/** What an order has reserved is kept as long as its state needs it. */
async function stockOf(
  tx: pg.ClientBase,
  order: Order,
  transactions: readonly OrderTransaction[],
  now: Date,
): Promise<Stocked | null> {
  if (order.terms.inventory === undefined) return null;
  await keepReservation(tx, order, now);
  const reservation = await readReservation(tx, order.id);
  assert(reservation !== null, 'an order of the inventory has reserved its sat');
  const reveals = transactions.filter(({ kind }) => kind === 'reveal').map(({ txid }) => txid);
  const standing = stockStanding(reservation, await outputStanding(tx, reservation, reveals));
  return { reservation, standing };
}

/** What goes home now. */
function returnedNow(
  order: Order,
  facts: OrderFacts,
  {
    deposits,
    parents,
    money: { spent, seen, outpoints, owed, ours, rests, isMoneyComing },
  }: Pick<MoneyFacts, 'deposits'> & Pick<Known, 'parents'> & { readonly money: Money },
): Return | null {
  const share = shareOf(order);
  return returnOf({
    state: order.state,
    facts,
    deposits,
    candidates: parents,
    spent,
    payments: seen.map((payment, place) => ({ ...payment, outpoint: outpoints[place] ?? '' })),
    owed,
    ours,
    share: share.additional + share.commission,
    ourCost: rests.ourCost,
    isMoneyComing,
  });
}

const receiptOf = ({ txid, vout, value, block }: WatchedPayment, to: Receipt['to']): Receipt[] =>
  block === null ? [] : [{ txid: hexOf(txid), vout, value, to }];

interface MoneyFacts {
  readonly payments: readonly WatchedPayment[];
  readonly deposits: readonly Deposit[];
  readonly transactions: readonly OrderTransaction[];
  readonly bumps: readonly OrderBump[];
  /** Our outputs that bumps of other orders spend. */
  readonly lent: ReadonlySet<string>;
  readonly depth: Pick<OrderFacts, 'tip' | 'confirmations'>;
  readonly isRevealed: boolean;
  /** Refunds and returns in blocks, by their txids. */
  readonly mined: ReadonlySet<string>;
}

interface Money extends Pick<Known, 'owed' | 'isMoneyShallow'> {
  /** The payments, as facts. */
  readonly seen: readonly OrderPayment[];
  readonly outpoints: readonly string[];
  readonly excess: OwedMoney | null;
  /** Outputs that stored transactions spend. */
  readonly spent: ReadonlySet<string>;
  /** Ours, confirmed and unspent, without what was paid too much. */
  readonly ours: readonly OwedMoney[];
  readonly rests: ReturnType<typeof restsOf>;
  /** What an earlier return or refund left is in no block yet. */
  readonly isMoneyComing: boolean;
  readonly refund: OrderFacts['refund'];
}

/** Where the money of an order is. Pure. */
function moneyOf(
  order: Order,
  { payments, deposits, transactions, bumps, lent, depth, isRevealed, mined }: MoneyFacts,
): Money {
  const alive = bumps.filter(({ isDead }) => !isDead);
  const spent = spentBy([...transactions, ...alive]);
  // a reveal must not be planned with them: what sends them back may be in a block already
  const taken = new Set([...spentBy(transactions, 'return'), ...spentBy(transactions, 'refund')]);
  const seen = payments.map((payment) => paymentOf(payment, taken));
  const left = payments.filter((payment) => payment.goneAt === null && !spent.has(outpointOf(payment)));
  const deep = left.filter((payment) => isDeep(paymentOf(payment, taken), depth));
  const excess = isRevealed ? excessOf(order, transactions) : null;
  const lying = excess === null ? null : movedExcess(excess, bumps);
  const rests = restsOf(transactions);
  const isFree = (output: OwedMoney): boolean => !spent.has(outpointOf(output));
  const isExcess = (output: OwedMoney): boolean =>
    excess !== null && outpointOf(excess) === outpointOf(output);
  const closings = transactions.filter(isClosing);
  const isOpen = ({ txid }: OwedMoney): boolean =>
    closings.some((made) => displayHash(made.txid) === displayHash(txid));
  const isMined = (output: OwedMoney): boolean => !isOpen(output) || mined.has(displayHash(output.txid));
  const atDeposits = deposits.filter(({ state }) => state !== 'gone');
  return {
    seen,
    outpoints: payments.map(outpointOf),
    excess,
    spent,
    rests,
    owed: [
      ...deep.map(({ txid, vout, value }): OwedMoney => ({ txid, vout, value, owed: value, at: 'address' })),
      ...(lying === null ? [] : [lying]).filter(isFree),
      ...rests.theirs.filter((rest) => isFree(rest) && isMined(rest)),
    ],
    ours: isRevealed
      ? rests.ours.filter(
          (rest) => isFree(rest) && isMined(rest) && !isExcess(rest) && !lent.has(outpointOf(rest)),
        )
      : [],
    isMoneyComing: [...rests.theirs, ...rests.ours].some((rest) => isFree(rest) && !isMined(rest)),
    isMoneyShallow:
      left.some((payment) => payment.block !== null && !deep.includes(payment)) ||
      atDeposits.some(({ state, payment }) => state === 'seen' && payment.block !== null),
    refund: closingState(closings, mined, {
      isHolding: atDeposits.some(({ payment }) => !spent.has(outpointOf(payment))),
      left: valueOf([...left.filter(({ value }) => value >= p2trDust), ...rests.theirs.filter(isFree)]),
      refundScript: order.refundScript,
    }),
  };
}

/** What pays back or sends home. */
const isClosing = ({ kind }: OrderTransaction): boolean => kind === 'refund' || kind === 'return';

interface Left {
  readonly isHolding: boolean;
  /** Sats of a customer's that nothing spends. */
  readonly left: bigint;
  readonly refundScript: Uint8Array | null;
}

function closingState(
  closings: readonly OrderTransaction[],
  mined: ReadonlySet<string>,
  { isHolding, left, refundScript }: Left,
): OrderFacts['refund'] {
  if (closings.length === 0) return null;
  const isLeft = refundScript === null ? left > 0n : isWorthRefunding(left, refundScript);
  const isDone = !isHolding && !isLeft && closings.every(({ txid }) => mined.has(displayHash(txid)));
  return isDone ? 'deep' : 'sent';
}

function settlementsFor(
  order: Order,
  {
    deposits,
    transactions,
    isRevealed,
    mined,
    money: { excess, rests },
  }: Pick<MoneyFacts, 'deposits' | 'transactions' | 'isRevealed' | 'mined'> & { readonly money: Money },
): readonly Settlement[] {
  const facts = {
    excess,
    deposits: new Set(deposits.map(({ payment }) => outpointOf(payment))),
    ours: new Set(rests.ours.map(outpointOf)),
  };
  const delivered = isRevealed ? transactions.filter((made) => !isClosing(made)) : [];
  const closed = transactions.filter((made) => isClosing(made) && mined.has(displayHash(made.txid)));
  return [...withReferral(settlementsOf(delivered, facts), shareOf(order)), ...settlementsOf(closed, facts)];
}

/** A transaction whose inputs are gone can never be mined: another one takes its place. */
async function supersedeOrphans(
  tx: pg.ClientBase,
  transactions: readonly OrderTransaction[],
  there: ReadonlySet<string>,
): Promise<readonly OrderTransaction[]> {
  const { live, orphans } = splitOrphans(transactions, there);
  await supersede(
    tx,
    orphans.map(({ txid }) => txid),
  );
  return live;
}

/**
 * What the index says of the delivery of an order: whether all of it lies deep enough, and whether a stranger has a
 * part.
 */
async function deliveryOf(
  tx: pg.ClientBase,
  { request, terms }: Order,
  transactions: readonly OrderTransaction[],
  confirmations: number,
): Promise<Pick<OrderFacts, 'isRevealed' | 'isAnchorTaken'>> {
  const txidsOf = (of: OrderTransaction['kind']): Txid[] =>
    transactions.filter(({ kind }) => kind === of).map(({ txid }) => txid);
  const reveals = txidsOf('reveal');
  if (reveals.length === 0) return { isRevealed: false, isAnchorTaken: false };
  const { count, height, tip, taken } = terms.burn
    ? await burnedReveals(tx, reveals, txidsOf('burn'))
    : { ...(await indexedReveals(tx, reveals)), taken: 0 };
  const isDeepEnough = height !== null && tip !== null && tip - height + 1 >= confirmations;
  return { isRevealed: count === request.count && isDeepEnough, isAnchorTaken: taken > 0 };
}

/** The refunds and returns of an order that are in a block: what they pay is watched. */
async function minedClosings(
  tx: pg.ClientBase,
  order: Order,
  transactions: readonly OrderTransaction[],
): Promise<ReadonlySet<string>> {
  if (!transactions.some(isClosing)) return new Set();
  const paid = await readPayments(tx, refundWatcherOf(order.id));
  const seen = paid.filter(({ block }) => block !== null);
  const deep = transactions.filter(({ height }) => height !== null);
  return new Set([...deep, ...seen].map(({ txid }) => displayHash(txid)));
}

/** @param taken outputs that refunds and returns spend */
const paymentOf = (payment: WatchedPayment, taken: ReadonlySet<string>): OrderPayment => ({
  value: payment.value,
  firstSeen: payment.firstSeen,
  height: payment.block?.height ?? null,
  isGone: payment.goneAt !== null,
  isTaken: taken.has(outpointOf(payment)),
});
