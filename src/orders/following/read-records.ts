import assert from 'node:assert/strict';
import type pg from 'pg';
import { burnedReveals, indexedReveals } from '#chain/inscriptions/reveal.queries.ts';
import { outputStanding } from '#chain/sats/output-standing.queries.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { type OrderBump, readBumps, spentByOthers } from '#orders/bumping/bump.store.ts';
import { isClosing } from '#orders/ledger/settlements.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderFacts } from '#orders/order/order-facts.ts';
import {
  type OrderTransaction,
  readTransactions,
  reviveMined,
  supersedeOfOrders,
} from '#orders/order/order-transactions.store.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import { type HeldPayments, readHeldPayments } from '#orders/parents/held-payments.ts';
import { readDeposits } from '#orders/parents/read-deposits.ts';
import { keepReservation, type Reservation, readReservation } from '#orders/stock/reservations.store.ts';
import { type StockStanding, stockStanding } from '#orders/stock/stock-standing.ts';
import { refundWatcherOf, watcherOf } from '#orders/watching/watchers.ts';
import { outputsThereAmong, readPayments, type WatchedPayment } from '#payments/payments.queries.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { outpointOf, outpointParts } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';
import { outputsThere, splitOrphans } from './live-transactions.ts';

/** Confirmations that are needed, and what returns may cost. */
export interface OrderDepths {
  /** For payments of an amount, before they are spent. */
  readonly confirmationsFor: (amount: bigint) => number;
  /** For the inscriptions of a completed order, in the index. */
  readonly finalConfirmations: number;
  /** Sats that returns of one order may cost (ORDER_RETURN_MAX_SATS). */
  readonly returnMaxSats: bigint;
}

/** The rows of an order, with what payments and index say of them. */
export interface OrderRecords extends Pick<OrderFacts, 'isRevealed' | 'isAnchorTaken'> {
  /** The last block of the payments, and the confirmations that payments of this order need. */
  readonly depth: Pick<OrderFacts, 'tip' | 'confirmations'>;
  /** Payments to its address, seen or gone. */
  readonly payments: readonly WatchedPayment[];
  readonly deposits: readonly Deposit[];
  /** Stored transactions that can be mined, each after all that it spends. */
  readonly transactions: readonly OrderTransaction[];
  readonly bumps: readonly OrderBump[];
  /** Refunds and returns in blocks, by their txids. */
  readonly mined: ReadonlySet<string>;
  /** Inscriptions and runes of unspent payments, as the index has them. */
  readonly held: HeldPayments;
  /** Our outputs that bumps and transactions of other orders spend. */
  readonly lent: ReadonlySet<string>;
  /** Its reservation in the inventory; null: it wants none. */
  readonly stocked: Stocked | null;
}

export interface Stocked {
  readonly reservation: Reservation;
  readonly standing: StockStanding;
}

/**
 * Reads the records of an order. Transactions that can never be mined are superseded, and those that a block has are
 * revived.
 */
export async function readRecords(
  tx: pg.ClientBase,
  order: Order,
  depths: OrderDepths,
  now: Date,
): Promise<OrderRecords> {
  const offset = await readPaymentsOffset(tx);
  const depth = { tip: offset?.height ?? null, confirmations: depths.confirmationsFor(order.amount) };
  const deposits = await readDeposits(tx, order, depth);
  // after the deposits: money that came with a parent is known where the parent is, and pays for its return
  const payments = await readPayments(tx, watcherOf(order.id));
  await reviveMined(tx, order.id);
  const made = await readTransactions(tx, order.id);
  const bumpsBefore = await readBumps(tx, order.id);
  const stocked = await readStocked(tx, order, made, now);
  const there = new Set([
    ...outputsThere([...payments, ...deposits.map(({ payment }) => payment)], bumpsBefore),
    ...(stocked === null || stocked.standing === 'gone' ? [] : [outpointOf(stocked.reservation)]),
    ...(await readCoins(tx, made)),
  ]);
  const transactions = await supersedeOrphans(tx, made, there);
  // those that pay for orphans end with them
  const bumps = transactions.length === made.length ? bumpsBefore : await readBumps(tx, order.id);
  // only returns spend what is ours, and bumps of other orders may have taken it
  const spent = spentBy(transactions);
  const left = payments.filter((payment) => payment.goneAt === null && !spent.has(outpointOf(payment)));
  const held = await readHeldPayments(tx, order, left);
  const mayReturn = order.terms.parents.length > 0 || [...held.values()].some(({ isHolding }) => isHolding);
  const lent = mayReturn ? await spentByOthers(tx, order.id) : [];
  const delivery = await readDelivery(tx, order, transactions, depths.finalConfirmations);
  const mined = await readMinedClosings(tx, order, transactions);
  return {
    depth,
    payments,
    deposits,
    transactions,
    bumps,
    mined,
    held,
    lent: new Set(lent),
    stocked,
    ...delivery,
  };
}

/** The reservation of an order, which is kept as long as its state needs it. */
async function readStocked(
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

/** Coins of the operator that returns of the order spend, if a block or the mempool has them. */
async function readCoins(
  tx: pg.ClientBase,
  transactions: readonly OrderTransaction[],
): Promise<readonly string[]> {
  const coins = transactions
    .flatMap(({ plan }) => plan.inputs)
    .filter(({ isOperator }) => isOperator === true)
    .map(({ outpoint }) => outpointParts(outpoint));
  return (await outputsThereAmong(tx, coins)).map(outpointOf);
}

/** Supersedes transactions whose inputs are gone: they can never be mined. Returns the others. */
async function supersedeOrphans(
  tx: pg.ClientBase,
  transactions: readonly OrderTransaction[],
  there: ReadonlySet<string>,
): Promise<readonly OrderTransaction[]> {
  const { live, orphans } = splitOrphans(transactions, there);
  await supersedeOfOrders(
    tx,
    orphans.map(({ txid }) => txid),
  );
  return live;
}

/** The delivery of an order in the index: whether all of it is deep enough, and whether a stranger has a part. */
async function readDelivery(
  tx: pg.ClientBase,
  { request, terms }: Order,
  transactions: readonly OrderTransaction[],
  confirmations: number,
): Promise<Pick<OrderRecords, 'isRevealed' | 'isAnchorTaken'>> {
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

/** The refunds and returns of an order that are in a block: the scripts that they pay are watched. */
async function readMinedClosings(
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
