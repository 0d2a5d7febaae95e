import assert from 'node:assert/strict';
import type pg from 'pg';
import { failpoint } from '#kernel/process/failpoint.ts';
import { keepBumpCoins, keepOrderCoins } from '#orders/coins/keep-coins.ts';
import {
  type CollectionStanding,
  decideCollectionOrder,
  needsItems,
  reasonWithoutItems,
  runeWaitsUntil,
} from '#orders/collections/collection-standing.ts';
import { listDelivered, type MarketItems, unlistDelivered } from '#orders/collections/market-items.ts';
import { tellFeePayment } from '#orders/collections/rune-progress.ts';
import { releaseReveals } from '#orders/etching/etchings.store.ts';
import type { OwedMoney } from '#orders/ledger/settlements.ts';
import type { OrderFunds, Shortfall } from '#orders/making/make-transactions.ts';
import { owedTooLittle } from '#orders/making/plan-refund.ts';
import { extraCostOf } from '#orders/order/coin-selection.ts';
import {
  isCancelled,
  lockOrder,
  lookAgain,
  moveOrder,
  type Order,
  recordEvent,
} from '#orders/order/order.store.ts';
import { isRuneHere, nextEvent, type OrderFacts, paidInTime } from '#orders/order/order-facts.ts';
import {
  deliveringStates,
  nextState,
  type OrderEvent,
  type OrderState,
} from '#orders/order/order-machine.ts';
import {
  isRefusal,
  noteEstimateAtPayment,
  noteExtraCost,
  noteMissing,
} from '#orders/order/order-notes.store.ts';
import { forgetCancellation } from '#orders/order/order-wishes.store.ts';
import { depositsWait, explainDeposits } from '#orders/parents/deposits.store.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import { holdingHomeless, type Return } from '#orders/parents/returns.ts';
import { spendPayments } from '#orders/paying/spend-payments.ts';
import { coinCosts } from '#orders/pricing/coin-costs.ts';
import type { CoinPayment, PaidFunds, PlacedPayments } from '#orders/sats/place-sats.ts';
import { readNodePolicy } from '#orders/sending/node-policy.store.ts';
import { type LeftInStock, leftInStock } from '#orders/stock/left-in-stock.ts';
import { reservedUntil } from '#orders/stock/reserved-until.ts';
import { stockGone } from '#orders/stock/stock-standing.ts';
import { postEntries } from '#purse/ledger/ledger.store.ts';
import { missingReason, refundLost } from './give-up-files.ts';
import { judgePrice } from './judge-price.ts';
import { type Known, learn } from './learn-order.ts';
import { giveUpReveals, type OrderDepths } from './read-records.ts';

/** What the steps of an order need of others. */
export interface OrderSteps extends OrderDepths {
  /** The order in which payments are spent, by the sats that they hold. */
  readonly placeSats: (order: Order, funds: PaidFunds) => PlacedPayments;
  /**
   * Plans, signs and stores the transactions that spend these payments; a reason for people where there are none, or
   * how many sats the payments lack. They may come later, when their lock times are found: then there is no reason, and
   * the order is looked at again.
   */
  readonly makeReveals: (
    tx: pg.ClientBase,
    order: Order,
    funds: OrderFunds,
  ) => Promise<string | Shortfall | null>;
  /** Lists items of collections once they are delivered. */
  readonly market: MarketItems;
  /** Takes up what a delivery left of an output of the inventory. */
  readonly restock: (tx: pg.ClientBase, left: LeftInStock) => Promise<void>;
  /**
   * The same for what returns parents, and all else that holds inscriptions or runes, with the money that pays for it.
   */
  readonly makeReturn: (tx: pg.ClientBase, order: Order, returned: Return) => Promise<string | null>;
  /** The same for a refund of what these outputs hold, if it is worth more than it costs. */
  readonly makeRefund: (
    tx: pg.ClientBase,
    order: Order,
    outputs: readonly OwedMoney[],
  ) => Promise<string | null>;
  /** Tells the customer of a state, in the same transaction. */
  readonly tell: (tx: pg.ClientBase, order: Order) => Promise<void>;
}

type WantedPayments = Exclude<PlacedPayments, { kind: 'unwanted' }>;

/** Each event leads to another state, so there are not more of them in a row than states. */
const eventsMax = 10;
/** How often an order whose refund or reveal could not be made is tried again. */
export const tryAgainMs = 60_000;
/** How often an order is looked at that owes less than it costs to send it. */
const oweAgainMs = 3_600_000;

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
  /** Why nothing is returned, where something should be. */
  let unreturned: string | null;
  /** Orders of the same address are decided about before it. */
  let isWaiting: boolean;
  for (let events = 0; ; events++) {
    assert(events < eventsMax, `order ${id} runs in a circle`);
    known = await learn(tx, order, steps, now);
    const { state } = order;
    const items = await decideItemsOf(tx, order, known);
    isWaiting = items === 'waiting';
    const placed = await marked(state, placedOf, order, known, steps, items);
    problem = null;
    unreturned = null;
    if (await isDecided(tx, order, known, steps, placed)) {
      order = await relock(tx, id);
      continue;
    }
    const make = makingOf(tx, order, known, steps, wantedOnly(placed));
    const { extraCost } = order;
    if (make !== null) {
      ({ problem, unreturned = null } = await marked(state, make));
      if (problem !== null && order.state === 'prep') await applyEvent(tx, order, 'failed', steps, problem);
      order = await relock(tx, id);
      known = await learn(tx, order, steps, now);
    }
    const event = nextEvent(order.state, known.facts);
    if (event !== null) order = await apply(tx, order, event, steps, known);
    else if (order.extraCost === extraCost) break;
  }
  await tellFeePayment(tx, order, known);
  const isPosted = await post(tx, order, known);
  await explain(tx, order, known, unreturned);
  await refuseCancellation(tx, order, before);
  await lookAgain(tx, id, nextLook(order, known, { problem, isPosted, isWaiting }, now));
  return order.state;
}

/** Whether the order has another price, or what came is inscribed on nothing: all of it is refunded then. */
async function isDecided(
  tx: pg.ClientBase,
  order: Order,
  known: Known,
  steps: OrderSteps,
  placed: PlacedPayments | null,
): Promise<boolean> {
  if (await judgePrice(tx, order, known)) return applyEvent(tx, order, 'repriced', steps);
  if (placed?.kind !== 'unwanted') return false;
  return applyEvent(tx, order, 'owing', steps, placed.reason);
}

const wantedOnly = (placed: PlacedPayments | null): WantedPayments | null =>
  placed?.kind === 'unwanted' ? null : placed;

/** What lies in the inventory after a delivery. */
async function restock(tx: pg.ClientBase, { reveals }: Known, steps: OrderSteps): Promise<void> {
  for (const reveal of reveals) {
    const left = await leftInStock(tx, reveal);
    if (left === null) continue;
    await steps.restock(tx, left);
    failpoint('order-restocked');
  }
}

/** Why an order fails whose transactions are stored. */
const takenFromAnchor =
  'A stranger took an inscription from its anchor, which anybody may spend, before its burn was mined.';

const nameLost =
  'Another transaction etched the name first, in the same block as the reveal or just before it: the reveal etched nothing. What it paid the miner is spent.';

/** A wish that was refused must not come true when the payment is gone for a while. */
async function refuseCancellation(tx: pg.ClientBase, order: Order, before: OrderState): Promise<void> {
  if (!order.isCancelAsked || !underWay.includes(before) || isCancelled(order)) return;
  const { id } = order;
  await forgetCancellation(tx, id);
  await recordEvent(tx, id, 'cancelled', before, null);
}

/** States of orders that are not over. */
const underWay: readonly OrderState[] = [
  'waiting-payment',
  'waiting-parent',
  'waiting-confirmation',
  'prep',
  ...deliveringStates,
  'completed',
  'error',
];

/** A failure, its cause, to place or make the transactions of a paid order. */
export class MakingFault extends Error {
  constructor(cause: unknown) {
    super('the transactions of an order cannot be made', { cause });
    this.name = 'MakingFault';
  }
}

/** Marks what is thrown in `prep`: the rollback of a round may take that state back. */
async function marked<Of extends unknown[], T>(
  state: OrderState,
  work: (...of: Of) => T | Promise<T>,
  ...of: Of
): Promise<T> {
  try {
    return await work(...of);
  } catch (error) {
    throw state === 'prep' ? new MakingFault(error) : error;
  }
}

/**
 * An order whose transactions cannot be made because of a fault of ours is one that its operator can try again or pay
 * back, also where the round that failed is the one that found it paid. In other states it stays where it is: what was
 * made is sent, and looked at again.
 */
export async function failOrder(
  tx: pg.ClientBase,
  id: string,
  steps: Pick<OrderSteps, 'tell'>,
  thrown: unknown,
): Promise<void> {
  let order = await lockOrder(tx, id);
  if (order === null) return;
  if (thrown instanceof MakingFault && nextState(order.state, 'paid') !== null) {
    await applyEvent(tx, order, 'paid', steps);
    order = await relock(tx, id);
  }
  if (order.state !== 'prep') return;
  const error = thrown instanceof MakingFault ? thrown.cause : thrown;
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
  // also of one that failed and is tried again: what fees rose by until then is not the service's
  if (to === 'prep') await noteEstimateAtPayment(tx, order.id, (await readNodePolicy(tx))?.estimate ?? null);
  await steps.tell(tx, { ...order, state: to, step: order.step + 1, error });
  failpoint('order-moved');
  return true;
}

async function apply(
  tx: pg.ClientBase,
  order: Order,
  event: OrderEvent,
  steps: OrderSteps,
  known: Known,
): Promise<Order> {
  if (event === 'unmined') await giveUpReveals(tx, order, known);
  if (event === 'planned' && known.etching !== null)
    await releaseReveals(
      tx,
      known.reveals.map(({ txid }) => txid),
    );
  const error = event === 'unmined' ? known.unmined : reasonOf(event, order, known);
  const isApplied = await applyEvent(tx, order, event, steps, error);
  assert(isApplied, `the facts of order ${order.id} say ${event}, which ${order.state} refuses`);
  if (event === 'revealed') {
    await restock(tx, known, steps);
    await listDelivered(tx, steps.market, order, known.reveals);
  }
  if (order.state === 'completed') await unlistDelivered(tx, steps.market, order);
  return relock(tx, order.id);
}

/** Why an order ends, where its facts and what it said before tell. */
function reasonOf(event: OrderEvent, order: Order, known: Known): string | null {
  const { error } = order;
  const { isSatGone, isNameLost } = known.facts;
  if (event === 'failed') return isNameLost ? nameLost : takenFromAnchor;
  if (event === 'revealed') return missingReason(order, known);
  // who was paid back still reads why
  if (event === 'refunded') return error === null || isRefusal(error) ? null : error;
  return event === 'timeout' && isSatGone ? stockGone : null;
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
  known: Known,
  steps: OrderSteps,
  placed: WantedPayments | null,
): (() => Promise<Made>) | null {
  const { returned, refunded, lost } = known;
  if (placed !== null) {
    const deliver = deliveryStep(tx, order, known, steps, placed);
    return deliver === null ? null : async () => ({ problem: await deliver() });
  }
  if (lost.length > 0 && order.refundScript !== null)
    return async () => ({
      problem: await refundLost(tx, known, (money) => steps.makeRefund(tx, order, money)),
    });
  if (returned === null && refunded.length === 0) return null;
  return async () => {
    const unreturned = returned === null ? null : await steps.makeReturn(tx, order, returned);
    // what a return spends is not refunded in the same look
    if (refunded.length === 0 || (returned !== null && unreturned === null))
      return { problem: unreturned, unreturned };
    // what cannot be returned keeps nothing else back
    return { problem: (await steps.makeRefund(tx, order, refunded)) ?? unreturned, unreturned };
  };
}

/** How the transactions of a look were made: the reason why not all of them are; null: they are. */
interface Made {
  readonly problem: string | null;
  /** Why what is to be returned is not; null: it is. */
  readonly unreturned?: string | null;
}

/** What makes a delivery of placed payments; null: their places are still being looked up. */
function deliveryStep(
  tx: pg.ClientBase,
  order: Order,
  known: Known,
  steps: OrderSteps,
  placed: WantedPayments,
): (() => Promise<string | null>) | null {
  if (placed.kind === 'pending') return null;
  if (placed.kind === 'impossible') return () => Promise.resolve(placed.reason);
  const { payments } = placed;
  if (placed.kind === 'short') return () => waitForMore(tx, order, payments, placed.missing);
  const stocked = known.stocked?.reservations ?? null;
  const funds = { payments, held: known.held, parents: parentsOf(known), stocked };
  return async () => {
    const made = await steps.makeReveals(tx, order, funds);
    return made === null || typeof made === 'string' ? made : waitForMore(tx, order, payments, made.missing);
  };
}

/** A plan costs more than the quote: more coins pay for it, or the order waits for more. */
async function waitForMore(
  tx: pg.ClientBase,
  order: Order,
  payments: readonly CoinPayment[],
  missing: bigint,
): Promise<null> {
  const extraCost = extraCostOf(payments, missing, coinCosts(order));
  assert(extraCost > order.extraCost, `order ${order.id} is short of what it was found to cost`);
  await noteExtraCost(tx, order.id, extraCost);
  return null;
}

/** All parents, once the order is paid and they are here. */
const parentsOf = ({ parents }: Known): readonly Deposit[] =>
  parents.filter((parent) => parent !== undefined);

/** A reorganisation may have taken the payment or a parent back while lock times were searched. */
const isPaidInTime = (facts: OrderFacts): boolean =>
  paidInTime(facts).isDeep && facts.parents === 'here' && isRuneHere(facts);

/** Whether a delivery is planned now. */
const isDeliveryDue = (order: Order, known: Known): boolean =>
  order.state === 'prep' && known.reveals.length === 0 && isPaidInTime(known.facts);

/**
 * Whether a paid order has its items for good; null: nothing is planned for it now, or it is no order of a
 * collection.
 */
const decideItemsOf = async (
  tx: pg.ClientBase,
  order: Order,
  known: Known,
): Promise<CollectionStanding | null> =>
  known.items !== null && isDeliveryDue(order, known)
    ? decideCollectionOrder(tx, order, known.items, known.payments)
    : null;

/** Whether it is not known yet if the rune of an order can be etched or minted. */
const areRunesUnknown = ({ etching, minting }: Known): boolean =>
  etching?.isUnknown === true || minting?.isUnknown === true;

/** How the delivery spends its payments; null: none is due. */
function placedOf(
  order: Order,
  known: Known,
  steps: OrderSteps,
  items: CollectionStanding | null,
): PlacedPayments | null {
  if (!isDeliveryDue(order, known)) return null;
  if (items === 'waiting' || areRunesUnknown(known)) return { kind: 'pending' };
  if (items !== null && items !== 'held') return { kind: 'unwanted', reason: reasonWithoutItems[items] };
  const standing = known.stocked?.standing ?? 'here';
  const reason = unwantedReason(order, known);
  if (reason !== null) return { kind: 'unwanted', reason };
  // a block that brings it back is news
  if (standing === 'away') return { kind: 'pending' };
  const parents = parentsOf(known).map(({ payment }) => payment);
  return spendPayments(order, { ...known, parents }, (funds) => steps.placeSats(order, funds));
}

/** Why an order is not delivered, whatever is paid for it; null: it is. */
function unwantedReason({ areLeavesDeleted }: Order, { etching, minting, stocked }: Known): string | null {
  if (areLeavesDeleted) return leavesDeleted;
  return stocked?.standing === 'gone' ? stockGone : (etching?.fault ?? minting?.fault ?? null);
}

const leavesDeleted =
  'The payment became known a week or more after the time of the order was over, and its contents were deleted by then.';

/** Adds what the ledger lacks, and says who holds the coins. False: the facts disagree for a moment, and it waits. */
async function post(tx: pg.ClientBase, { id }: Order, { entries, coins, isBumped }: Known): Promise<boolean> {
  const posted = await postEntries(tx, { kind: 'order', id }, entries);
  if (posted === 'posted') failpoint('order-posted');
  if (coins !== null) await keepOrderCoins(tx, [{ id, coins }]);
  if (isBumped) await keepBumpCoins(tx, [id]);
  return posted !== 'waits';
}

/** Whether items of a collection are the order's. */
const hasItems = ({ items }: Pick<Known, 'items'>): boolean =>
  items?.standing === 'unpaid' || items?.standing === 'allowed';

/** The outcome of a look. */
interface Look {
  readonly problem: string | null;
  /** Its ledger is as its facts say. */
  readonly isPosted: boolean;
  /** Other orders are decided about before it. */
  readonly isWaiting: boolean;
}

/**
 * When time alone may change an order; null: payments, blocks and people can, and all of them are news. An order that
 * stays due would be looked at in every round, and few of them would keep all others from being looked at.
 */
function nextLook(
  order: Order,
  known: Known,
  { problem, isPosted, isWaiting }: Look,
  now: Date,
): Date | null {
  const look = lookOf(order, known, problem, now);
  // a refund that is deep frees its items, and the blocks after it are no news
  const isHolding = hasItems(known) && !needsItems(order, now);
  return isPosted && !isWaiting && !isHolding ? look : earlier(look, new Date(now.getTime() + tryAgainMs));
}

/** Says on the order why something of it waits that no state tells. */
async function explain(
  tx: pg.ClientBase,
  order: Order,
  known: Known,
  unreturned: string | null,
): Promise<void> {
  const { id, state } = order;
  const { isHomeless } = known;
  await explainDeposits(tx, id, unreturned ?? (isHomeless && isOver(state) ? holdingHomeless : null));
  await noteMissing(tx, id, missingReason(order, known));
}

/** The same, once its ledger is as its facts say. */
function lookOf(order: Order, known: Known, problem: string | null, now: Date): Date | null {
  const { state, expiresAt } = order;
  const after = (ms: number): Date => new Date(now.getTime() + ms);
  const again = problem === null ? null : after(againMs(problem));
  // the token order says when the time of a rune is over: until then its items are kept for a while
  const isRuneLate = known.facts.rune !== null && now > expiresAt;
  if (state === 'waiting-payment' || state === 'waiting-parent')
    return earlier(again, isRuneLate ? runeRelease(order, known) : expiresAt);
  const release = releaseOf(order, known, now);
  if (state === 'error') return release;
  if (!isOver(state)) return earlier(again ?? release, minedUntil(order, known));
  // blocks that follow are no news for orders that are over
  const shallow = known.isMoneyShallow ? after(tryAgainMs) : null;
  return earlier(again, earlier(shallow, release));
}

/** How long a problem takes: fees fall within hours. */
const againMs = (problem: string): number =>
  problem === owedTooLittle || problem.startsWith(depositsWait) ? oweAgainMs : tryAgainMs;

/** The time that releases its sats or its items, all at once; null: none does. */
function releaseOf(order: Order, { stocked, items }: Known, now: Date): Date | null {
  if (items?.standing === 'unpaid' && needsItems(order, now))
    return reservedUntil({ ...order, failedAt: null });
  const held = stocked?.reservations.find(({ isReleased }) => !isReleased);
  return held === undefined ? null : reservedUntil({ ...order, failedAt: held.failedAt });
}

/** The time that releases the items of an order that waits for its rune; null: none does. */
const runeRelease = (order: Order, known: Known): Date | null =>
  hasItems(known) && order.paidAt === null ? runeWaitsUntil(order) : null;

/** Time at which the reveal that a miner is to take may be given up; null: there is none. */
const minedUntil = ({ state }: Order, { mining }: Known): Date | null =>
  state !== 'queued' || mining === null || mining.isMined
    ? null
    : new Date(mining.minedUntil.getTime() + lateMs);

/** A look at the very end of its time would find it not over yet. */
const lateMs = 1_000;

const earlier = (a: Date | null, b: Date | null): Date | null =>
  a === null || (b !== null && b < a) ? b : a;

/** Whether only money that no delivery uses, and reorganisations, concern an order. */
const isOver = (state: OrderState): boolean =>
  !['waiting-confirmation', 'prep', ...deliveringStates, 'error'].includes(state);
