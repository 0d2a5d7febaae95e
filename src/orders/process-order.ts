import assert from 'node:assert/strict';
import type pg from 'pg';
import { failpoint } from '#kernel/failpoint.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { type Payment, readPayments } from '#payments/payments.queries.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { readBumps } from './bumping/bump.store.ts';
import { p2trDust, valueOf } from './inscribing/plan-amounts.ts';
import {
  bumpSettlements,
  excessOf,
  hexOf,
  movedExcess,
  type OwedMoney,
  outpointOf,
  settlementsOf,
  shareOf,
} from './ledger/settlements.ts';
import { addEntries, readEntries } from './ledger.store.ts';
import { correctionsTo, entriesOf, type Receipt, type Settlement, withReferral } from './ledger.ts';
import {
  forgetCancellation,
  indexedReveals,
  lockOrder,
  lookAgain,
  moveOrder,
  type Order,
  recordEvent,
} from './order.store.ts';
import {
  countsInTime,
  isDeep,
  nextEvent,
  type OrderFacts,
  type OrderPayment,
  paidInTime,
} from './order-facts.ts';
import { nextState, type OrderEvent, type OrderState } from './order-machine.ts';
import { type OrderTransaction, readTransactions, supersede } from './order-transactions.store.ts';
import { isWorthRefunding, owedTooLittle } from './plan-refund.ts';

/** Who watches the scripts of an order (docs/payments.md). */
export const watcherOf = (orderId: string): string => `order ${orderId}`;
/** Who watches where its refund goes. */
export const refundWatcherOf = (orderId: string): string => `refund ${orderId}`;

/** Who watches our outputs of its transactions. */
export const ownWatcherOf = (orderId: string): string => `own ${orderId}`;

/** What the steps of an order need of others. */
export interface OrderSteps {
  /** How deep payments of an amount must lie before they are spent. */
  readonly confirmationsFor: (amount: bigint) => number;
  /** How deep the index must have the inscriptions of a completed order. */
  readonly finalConfirmations: number;
  /**
   * Plans, signs and stores the transactions that spend these payments; a reason for people where there are none. They
   * may come later, when their lock times are found: then there is no reason, and the order is looked at again.
   */
  readonly makeReveals: (
    tx: pg.ClientBase,
    order: Order,
    payments: readonly Payment[],
  ) => Promise<string | null>;
  /** The same for a refund of what these outputs hold, if it is worth more than it costs. */
  readonly makeRefund: (
    tx: pg.ClientBase,
    order: Order,
    outputs: readonly OwedMoney[],
  ) => Promise<string | null>;
  /** Tells the customer of a state, in the same transaction. */
  readonly tell: (tx: pg.ClientBase, order: Order) => Promise<void>;
}

/** Above every block: scripts are watched from the next one on (docs/payments.md). */
export const nextBlock = asHeight(0x7fff_ffff);

/** Each event leads to another state, so there are not more of them in a row than states. */
const eventsMax = 10;
/** How often an order whose refund or reveal could not be made is tried again. */
export const tryAgainMs = 60_000;

/** How often an order is looked at that owes less than it costs to send it. */
const oweAgainMs = 3_600_000;

/** What is known of an order, with the rows that it is known from. */
interface Known {
  readonly facts: OrderFacts;
  /** To its address, seen or gone. */
  readonly payments: readonly Payment[];
  readonly reveals: readonly OrderTransaction[];
  /** Confirmed outputs with customers' money that no stored transaction spends. */
  readonly owed: readonly OwedMoney[];
  /** Blocks have payments that no stored transaction spends, and that do not lie deep enough to be paid back. */
  readonly isMoneyShallow: boolean;
  readonly receipts: readonly Receipt[];
  readonly settlements: readonly Settlement[];
}

/**
 * Brings an order to where the facts say it is: its state, its transactions, its ledger, and what its customer is
 * told, all in the given transaction. Doing it twice does nothing more. Returns the state; null: there is no order.
 */
export async function processOrder(
  tx: pg.ClientBase,
  id: string,
  steps: OrderSteps,
  now: Date,
): Promise<OrderState | null> {
  let order = await lockOrder(tx, id);
  if (order === null) return null;
  const before = order.state;
  let known: Known;
  let problem: string | null;
  for (let events = 0; ; events++) {
    assert(events < eventsMax, `order ${id} runs in a circle`);
    known = await learn(tx, order, steps, now);
    const make = makingOf(tx, order, known, steps);
    problem = null;
    if (make !== null) {
      problem = await make();
      if (problem !== null && order.state === 'prep') {
        await applyEvent(tx, order, 'failed', steps, problem);
        order = await relock(tx, id);
      }
      known = await learn(tx, order, steps, now);
    }
    const event = nextEvent(order.state, known.facts);
    if (event === null) break;
    order = await apply(tx, order, event, steps);
  }
  await post(tx, order, known);
  if (order.isCancelAsked && underWay.includes(before) && order.state !== 'cancelled') {
    // a wish that was refused must not come true when the payment is gone for a while
    await forgetCancellation(tx, id);
    await recordEvent(tx, id, 'cancelled', before, null);
  }
  await lookAgain(tx, id, nextLook(order, known, problem, now));
  return order.state;
}

/** States of orders that are not over. */
const underWay: readonly OrderState[] = [
  'waiting-payment',
  'waiting-confirmation',
  'prep',
  'queued',
  'completed',
  'error',
];

/**
 * An order whose transactions cannot be made because of a fault of ours is one that its operator can try again or pay
 * back. In other states it stays where it is: what was made is sent, and looked at again.
 */
export async function failOrder(
  tx: pg.ClientBase,
  id: string,
  steps: Pick<OrderSteps, 'tell'>,
  error: unknown,
): Promise<void> {
  const order = await lockOrder(tx, id);
  if (order?.state !== 'prep') return;
  const why = error instanceof Error ? error.message : 'no reason given';
  await applyEvent(tx, order, 'failed', steps, `The transactions cannot be made: ${why}`);
}

/** Applies an event of a customer or the operator. False: the state refuses it, which is recorded. */
export async function applyEvent(
  tx: pg.ClientBase,
  order: Order,
  event: OrderEvent,
  steps: Pick<OrderSteps, 'tell'>,
  error: string | null = null,
): Promise<boolean> {
  const to = nextState(order.state, event);
  if (to === null) {
    await recordEvent(tx, order.id, event, order.state, null);
    return false;
  }
  await moveOrder(tx, order, event, to, { error });
  await steps.tell(tx, { ...order, state: to, step: order.step + 1, error });
  failpoint('order-moved');
  return true;
}

async function apply(tx: pg.ClientBase, order: Order, event: OrderEvent, steps: OrderSteps): Promise<Order> {
  const isApplied = await applyEvent(tx, order, event, steps);
  assert(isApplied, `the facts of order ${order.id} say ${event}, which ${order.state} refuses`);
  return relock(tx, order.id);
}

async function relock(tx: pg.ClientBase, id: string): Promise<Order> {
  const order = await lockOrder(tx, id);
  assert(order !== null, `order ${id} is gone`);
  return order;
}

/**
 * What makes the transactions that the state of the order asks for, and gives the reason where it cannot; null: it asks
 * for none.
 */
function makingOf(
  tx: pg.ClientBase,
  order: Order,
  { facts, payments, owed, reveals }: Known,
  steps: OrderSteps,
): (() => Promise<string | null>) | null {
  // a reorganisation may have taken the payment back while lock times were searched
  if (order.state === 'prep' && reveals.length === 0 && paidInTime(facts).deep >= facts.amount) {
    const spent = payments.filter((payment) => {
      const seen = paymentOf(payment);
      return countsInTime(seen, facts) && isDeep(seen, facts);
    });
    return () => steps.makeReveals(tx, order, spent);
  }
  const paysBack = order.state === 'waiting-refund' || (order.state === 'completed' && facts.isRevealed);
  if (paysBack && order.refundScript !== null && owed.length > 0)
    return () => steps.makeRefund(tx, order, owed);
  return null;
}

async function learn(tx: pg.ClientBase, order: Order, steps: OrderSteps, now: Date): Promise<Known> {
  const payments = await readPayments(tx, watcherOf(order.id));
  const bumps = await readBumps(tx, order.id);
  const there = new Set([
    ...payments.filter(({ goneAt }) => goneAt === null).map(outpointOf),
    ...bumps.filter(({ isMined }) => isMined).map(({ txid }) => outpointOf({ txid, vout: 0 })),
  ]);
  const transactions = await supersedeOrphans(tx, await readTransactions(tx, order.id), there);
  const reveals = transactions.filter(({ kind }) => kind === 'reveal');
  const refunds = transactions.filter(({ kind }) => kind === 'refund');
  const offset = await readPaymentsOffset(tx);
  const depth = { tip: offset?.height ?? null, confirmations: steps.confirmationsFor(order.amount) };
  const isRevealed = await areIndexed(tx, order, reveals, steps.finalConfirmations);
  const spending = [...transactions, ...bumps.filter(({ isDead }) => !isDead)];
  const spent = new Set(spending.flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)));
  const left = payments.filter((payment) => payment.goneAt === null && !spent.has(outpointOf(payment)));
  const deep = left.filter((payment) => isDeep(paymentOf(payment), depth));
  const unspent = deep.map(
    ({ txid, vout, value }): OwedMoney => ({ txid, vout, value, owed: value, at: 'address' }),
  );
  const isMoneyShallow = left.some((payment) => payment.block !== null && !deep.includes(payment));
  const excess = isRevealed ? excessOf(order, transactions) : null;
  const lying = excess === null ? null : movedExcess(excess, bumps);
  const owed = lying === null || spent.has(outpointOf(lying)) ? unspent : [...unspent, lying];
  const deepRefunds = await confirmedRefunds(tx, order, refunds);
  const facts: OrderFacts = {
    amount: order.amount,
    expiresAt: order.expiresAt,
    now,
    ...depth,
    payments: payments.map(paymentOf),
    isCancelAsked: order.isCancelAsked,
    hasReveal: reveals.length > 0,
    isRevealed,
    refund: refundState(refunds, deepRefunds, payments, spent, order.refundScript),
  };
  const receipts = payments
    .filter(({ block }) => block !== null)
    .map(({ txid, vout, value }) => ({ txid: hexOf(txid), vout, value }));
  const delivered = isRevealed ? transactions.filter(({ kind }) => kind !== 'refund') : [];
  const settlements = [
    ...withReferral(settlementsOf(delivered, excess), shareOf(order)),
    ...settlementsOf(
      refunds.filter(({ txid }) => deepRefunds.has(displayHash(txid))),
      excess,
    ),
    ...bumpSettlements(bumps),
  ];
  return { facts, payments, reveals, owed, isMoneyShallow, receipts, settlements };
}

/** A transaction whose inputs are gone can never be mined: another one takes its place. */
async function supersedeOrphans(
  tx: pg.ClientBase,
  transactions: readonly OrderTransaction[],
  there: ReadonlySet<string>,
): Promise<OrderTransaction[]> {
  const kept: OrderTransaction[] = [];
  const made = new Set<string>();
  const place = ({ kind }: OrderTransaction): number => ['commit', 'reveal', 'refund'].indexOf(kind);
  const byKind = transactions.toSorted((a, b) => place(a) - place(b));
  for (const transaction of byKind) {
    const isThere = transaction.plan.inputs.every(
      ({ outpoint }) => there.has(outpoint) || made.has(outpoint.slice(0, txidChars)),
    );
    if (!isThere) await supersede(tx, transaction.txid);
    else {
      kept.push(transaction);
      made.add(displayHash(transaction.txid));
    }
  }
  return kept;
}

const txidChars = 64;

/** Whether the index has all inscriptions of an order, deep enough. */
async function areIndexed(
  tx: pg.ClientBase,
  { request }: Order,
  reveals: readonly OrderTransaction[],
  confirmations: number,
): Promise<boolean> {
  if (reveals.length === 0) return false;
  const { count, height, tip } = await indexedReveals(
    tx,
    reveals.map(({ txid }) => txid),
  );
  return count === request.count && height !== null && tip !== null && tip - height + 1 >= confirmations;
}

/** The refunds of an order that are in a block: what they pay is watched. */
async function confirmedRefunds(
  tx: pg.ClientBase,
  order: Order,
  refunds: readonly OrderTransaction[],
): Promise<ReadonlySet<string>> {
  if (refunds.length === 0) return new Set();
  const paid = await readPayments(tx, refundWatcherOf(order.id));
  return new Set(paid.filter(({ block }) => block !== null).map(({ txid }) => displayHash(txid)));
}

function refundState(
  refunds: readonly OrderTransaction[],
  deep: ReadonlySet<string>,
  payments: readonly Payment[],
  spent: ReadonlySet<string>,
  refundScript: Uint8Array | null,
): OrderFacts['refund'] {
  if (refunds.length === 0 || refundScript === null) return null;
  const left = payments.filter(
    (payment) => payment.goneAt === null && payment.value >= p2trDust && !spent.has(outpointOf(payment)),
  );
  return !isWorthRefunding(valueOf(left), refundScript) &&
    refunds.every(({ txid }) => deep.has(displayHash(txid)))
    ? 'deep'
    : 'sent';
}

/** Adds what the ledger lacks. */
async function post(tx: pg.ClientBase, order: Order, { receipts, settlements }: Known): Promise<void> {
  const posted = await readEntries(tx, order.id);
  const missing = correctionsTo(entriesOf(receipts, settlements), posted);
  await addEntries(tx, order.id, missing);
  if (missing.length > 0) failpoint('order-posted');
}

/**
 * When time alone may change an order; null: payments, blocks and people can, and all of them are news. An order that
 * stays due would be looked at in every round, and few of them would keep all others from being looked at.
 */
function nextLook({ state, expiresAt }: Order, known: Known, problem: string | null, now: Date): Date | null {
  if (state === 'waiting-payment') return expiresAt;
  const after = (ms: number): Date => new Date(now.getTime() + ms);
  // fees fall within hours
  if (problem === owedTooLittle) return after(oweAgainMs);
  if (problem !== null && state !== 'error') return after(tryAgainMs);
  // blocks that follow are no news for orders that are over
  return isOver(state) && known.isMoneyShallow ? after(tryAgainMs) : null;
}

/** Whether only money that no delivery uses, and reorganisations, concern an order. */
const isOver = (state: OrderState): boolean =>
  !['waiting-confirmation', 'prep', 'queued', 'error'].includes(state);

const paymentOf = ({ value, firstSeen, block, goneAt }: Payment): OrderPayment => ({
  value,
  firstSeen,
  height: block?.height ?? null,
  isGone: goneAt !== null,
});
