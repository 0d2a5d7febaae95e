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
import { noReturnAddress, type Return } from '#orders/parents/returns.ts';
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

/** Functions that processing an order needs from other modules. */
export interface OrderSteps extends OrderDepths {
  /** Sorts the payments by the sats that they contain. */
  readonly placeSats: (order: Order, funds: PaidFunds) => PlacedPayments;
  /**
   * Plans, signs and stores the transactions that spend these payments. Returns a reason for people if the transactions
   * cannot be made, or the number of sats that the payments lack. Returns null if the transactions are made, or if the
   * order is processed again once their lock times are found.
   */
  readonly makeReveals: (
    tx: pg.ClientBase,
    order: Order,
    funds: OrderFunds,
  ) => Promise<string | Shortfall | null>;
  /** The market's lists of delivered items of collections. */
  readonly market: MarketItems;
  /** Puts the unused sats of an inventory output back into the inventory after a delivery. */
  readonly restock: (tx: pg.ClientBase, left: LeftInStock) => Promise<void>;
  /**
   * Makes a return of parents and other outputs with inscriptions or runes; the money in `returned` pays for it.
   * Returns the reason if the return cannot be made.
   */
  readonly makeReturn: (tx: pg.ClientBase, order: Order, returned: Return) => Promise<string | null>;
  /** Makes a refund of these outputs if the refund is worth its fee. Returns the reason if no refund is made. */
  readonly makeRefund: (
    tx: pg.ClientBase,
    order: Order,
    outputs: readonly OwedMoney[],
  ) => Promise<string | null>;
  /** Queues the message to the customer about the order's new state, in the same database transaction. */
  readonly tell: (tx: pg.ClientBase, order: Order) => Promise<void>;
}

type WantedPayments = Exclude<PlacedPayments, { kind: 'unwanted' }>;

/**
 * Maximum number of consecutive events while one order is processed. Each event leads to another state, so more events
 * would mean an endless loop.
 */
const eventsMax = 10;
/** How long to wait before an order is retried, in ms, if its refund or reveal could not be made. */
export const tryAgainMs = 60_000;
/** How often an order is processed, in ms, if it owes less than the fee of a refund. */
const oweAgainMs = 3_600_000;

/**
 * Moves an order to the state that follows from its facts. Makes its transactions, ledger entries and messages to the
 * customer, all in the given database transaction. Idempotent. Returns the state, or null if the order does not exist.
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
  /** Why a due return was not made. Null in all other cases. */
  let unreturned: string | null;
  /** Whether this order waits, because other orders of the same address are decided first. */
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

/**
 * Applies an event if the order gets a new price, or if its payment can only be refunded. Returns whether an event was
 * applied.
 */
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

/** Puts the inventory sats that a delivery did not use back into the inventory. */
async function restock(tx: pg.ClientBase, { reveals }: Known, steps: OrderSteps): Promise<void> {
  for (const reveal of reveals) {
    const left = await leftInStock(tx, reveal);
    if (left === null) continue;
    await steps.restock(tx, left);
    failpoint('order-restocked');
  }
}

/** Reason why an order fails after its transactions are stored. */
const takenFromAnchor =
  'Another transaction took an inscription from its anchor, which anyone may spend, before its burn was mined.';

const nameLost =
  'The reveal etched nothing, because another transaction etched the name first, in the same block or just before it. The fee that the reveal paid to the miner is spent.';

/**
 * Deletes a refused request to cancel. Otherwise the cancellation could take effect later, while the payment is
 * temporarily missing.
 */
async function refuseCancellation(tx: pg.ClientBase, order: Order, before: OrderState): Promise<void> {
  if (!order.isCancelAsked || !underWay.includes(before) || isCancelled(order)) return;
  const { id } = order;
  await forgetCancellation(tx, id);
  await recordEvent(tx, id, 'cancelled', before, null);
}

/** States in which a requested cancellation can be refused. */
const underWay: readonly OrderState[] = [
  'waiting-payment',
  'waiting-parent',
  'waiting-confirmation',
  'prep',
  ...deliveringStates,
  'completed',
  'error',
];

/**
 * An error that occurred while the payments of a paid order were placed, or while its transactions were made. `cause`
 * is the original error.
 */
export class MakingFault extends Error {
  constructor(cause: unknown) {
    super('the transactions of an order cannot be made', { cause });
    this.name = 'MakingFault';
  }
}

/** Wraps errors in state `prep` in MakingFault, because the rollback may undo the move to that state. */
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
 * Moves an order to `error` if its transactions cannot be made because of a fault of ours. The operator can then retry
 * or refund the order. If the failed attempt was the first to find the order paid, its rollback undid that state, so
 * the state is set again first. In other states, the order is unchanged, stored transactions are sent, and the order is
 * processed again.
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

/** Applies an event to an order. If the order's state refuses the event, records the refusal and returns false. */
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
  // a failed order that is retried gets a new estimate too, so the service does not pay for a rise of fees in the
  // meantime
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

/** The reason to store with an event, from the order's facts and its earlier error. */
function reasonOf(event: OrderEvent, order: Order, known: Known): string | null {
  const { error } = order;
  const { isSatGone, isNameLost } = known.facts;
  if (event === 'failed') return isNameLost ? nameLost : takenFromAnchor;
  if (event === 'revealed') return missingReason(order, known);
  // the reason is kept, so that a refunded customer can still read it
  if (event === 'refunded') return error === null || isRefusal(error) ? null : error;
  return event === 'timeout' && isSatGone ? stockGone : null;
}

async function relock(tx: pg.ClientBase, id: string): Promise<Order> {
  const order = await lockOrder(tx, id);
  assert(order !== null, `order ${id} is gone`);
  return order;
}

/**
 * Returns a function that makes the transactions that the state of the order needs, or null if no transactions are
 * needed.
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
    // a return may spend the outputs of the refund, so the refund waits for the next time that the order is processed
    if (refunded.length === 0 || (returned !== null && unreturned === null))
      return { problem: unreturned, unreturned };
    // a return that cannot be made does not delay a refund
    return { problem: (await steps.makeRefund(tx, order, refunded)) ?? unreturned, unreturned };
  };
}

/** Result of making the transactions that an order needs. */
interface Made {
  readonly problem: string | null;
  /** Reason why a due return was not made; null if the return was made. */
  readonly unreturned?: string | null;
}

/**
 * Returns a function that makes the delivery of placed payments; null while the sats of the payments are still being
 * located.
 */
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

/**
 * Stores that a plan costs more than the quote. More coins then pay for the plan, or the order waits for more coins.
 */
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

/** The known parents. They are complete once the order is paid and its parents have arrived. */
const parentsOf = ({ parents }: Known): readonly Deposit[] =>
  parents.filter((parent) => parent !== undefined);

/**
 * Whether the order is still paid. A reorganisation may have removed the payment or a parent while lock times were
 * searched.
 */
const isPaidInTime = (facts: OrderFacts): boolean =>
  paidInTime(facts).isDeep && facts.parents === 'here' && isRuneHere(facts);

/** Whether a delivery is planned now. */
const isDeliveryDue = (order: Order, known: Known): boolean =>
  order.state === 'prep' && known.reveals.length === 0 && isPaidInTime(known.facts);

/**
 * Decides whether a paid order finally gets its collection items. Returns null if no delivery is due, or if the order
 * is not for a collection.
 */
const decideItemsOf = async (
  tx: pg.ClientBase,
  order: Order,
  known: Known,
): Promise<CollectionStanding | null> =>
  known.items !== null && isDeliveryDue(order, known)
    ? decideCollectionOrder(tx, order, known.items, known.payments)
    : null;

/** Whether the index does not know yet if the order's rune can be etched or minted. */
const areRunesUnknown = ({ etching, minting }: Known): boolean =>
  etching?.isUnknown === true || minting?.isUnknown === true;

/** How the delivery spends the order's payments; null if no delivery is due. */
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
  // if a block brings the sat back, that block wakes the order
  if (standing === 'away') return { kind: 'pending' };
  const parents = parentsOf(known).map(({ payment }) => payment);
  return spendPayments(order, { ...known, parents }, (funds) => steps.placeSats(order, funds));
}

/** The reason why an order cannot be delivered, even if it is paid; null if there is no such reason. */
function unwantedReason({ areLeavesDeleted }: Order, { etching, minting, stocked }: Known): string | null {
  if (areLeavesDeleted) return leavesDeleted;
  return stocked?.standing === 'gone' ? stockGone : (etching?.fault ?? minting?.fault ?? null);
}

const leavesDeleted =
  'The payment was first seen at least a week after the time of the order was over, when the files of the order were already deleted.';

/**
 * Adds missing ledger entries, and stores the holders of the coins. Returns false if the entries must wait, because the
 * facts temporarily disagree.
 */
async function post(tx: pg.ClientBase, { id }: Order, { entries, coins, isBumped }: Known): Promise<boolean> {
  const posted = await postEntries(tx, { kind: 'order', id }, entries);
  if (posted === 'posted') failpoint('order-posted');
  if (coins !== null) await keepOrderCoins(tx, [{ id, coins }]);
  if (isBumped) await keepBumpCoins(tx, [id]);
  return posted !== 'waits';
}

/** Whether items of a collection are kept for the order. */
const hasItems = ({ items }: Pick<Known, 'items'>): boolean =>
  items?.standing === 'unpaid' || items?.standing === 'allowed';

/** The outcome of processing an order. */
interface Look {
  readonly problem: string | null;
  /** Whether the order's ledger agrees with its facts. */
  readonly isPosted: boolean;
  /** Whether this order waits, because other orders are decided first. */
  readonly isWaiting: boolean;
}

/**
 * The next time at which an order must be processed although nothing else changes. Null if only payments, blocks and
 * people can change the order, because each of these wakes the order. An order that was always due would be processed
 * in every round, and a few such orders would block all other orders.
 */
function nextLook(
  order: Order,
  known: Known,
  { problem, isPosted, isWaiting }: Look,
  now: Date,
): Date | null {
  const look = lookOf(order, known, problem, now);
  // a deep refund releases the items, but later blocks do not wake the order, so it needs a time
  const isHolding = hasItems(known) && !needsItems(order, now);
  return isPosted && !isWaiting && !isHolding ? look : earlier(look, new Date(now.getTime() + tryAgainMs));
}

/**
 * Stores why a deposit, a file or a mint is not delivered or returned, if the state of the order does not show that.
 */
async function explain(
  tx: pg.ClientBase,
  order: Order,
  known: Known,
  unreturned: string | null,
): Promise<void> {
  const { id, state } = order;
  const { lacksReturnAddress } = known;
  await explainDeposits(tx, id, unreturned ?? (lacksReturnAddress && isOver(state) ? noReturnAddress : null));
  await noteMissing(tx, id, missingReason(order, known));
}

/** The next time at which an order is processed, if its ledger agrees with its facts. */
function lookOf(order: Order, known: Known, problem: string | null, now: Date): Date | null {
  const { state, expiresAt } = order;
  const after = (ms: number): Date => new Date(now.getTime() + ms);
  const again = problem === null ? null : after(againMs(problem));
  // the token order decides when its own time is over; after the expiry of this order, the items are kept for a limited
  // time
  const isRuneLate = known.facts.rune !== null && now > expiresAt;
  if (state === 'waiting-payment' || state === 'waiting-parent')
    return earlier(again, isRuneLate ? runeRelease(order, known) : expiresAt);
  const release = releaseOf(order, known, now);
  if (state === 'error') return release;
  if (!isOver(state)) return earlier(again ?? release, minedUntil(order, known));
  // later blocks do not wake finished orders, so they need a time
  const shallow = known.isMoneyShallow ? after(tryAgainMs) : null;
  return earlier(again, earlier(shallow, release));
}

/**
 * How long to wait after a problem, in ms. Problems that depend on fees wait longer, because fees fall within hours.
 */
const againMs = (problem: string): number =>
  problem === owedTooLittle || problem.startsWith(depositsWait) ? oweAgainMs : tryAgainMs;

/** Time at which the order's inventory sats or items are released, all at once; null if they are never released. */
function releaseOf(order: Order, { stocked, items }: Known, now: Date): Date | null {
  if (items?.standing === 'unpaid' && needsItems(order, now))
    return reservedUntil({ ...order, failedAt: null });
  const held = stocked?.reservations.find(({ isReleased }) => !isReleased);
  return held === undefined ? null : reservedUntil({ ...order, failedAt: held.failedAt });
}

/** Time at which the items of an order that waits for its rune are released; null if they are never released. */
const runeRelease = (order: Order, known: Known): Date | null =>
  hasItems(known) && order.paidAt === null ? runeWaitsUntil(order) : null;

/** Time from which the reveal for a miner may be given up; null if no reveal waits for a miner. */
const minedUntil = ({ state }: Order, { mining }: Known): Date | null =>
  state !== 'queued' || mining === null || mining.isMined
    ? null
    : new Date(mining.minedUntil.getTime() + lateMs);

/** How long to wait after `minedUntil`, in ms. Exactly at `minedUntil`, the miner's time is not over yet. */
const lateMs = 1_000;

const earlier = (a: Date | null, b: Date | null): Date | null =>
  a === null || (b !== null && b < a) ? b : a;

/** Whether blocks no longer wake an order, because only unused money and reorganisations can change the order. */
const isOver = (state: OrderState): boolean =>
  !['waiting-confirmation', 'prep', ...deliveringStates, 'error'].includes(state);
