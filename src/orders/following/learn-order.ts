import type pg from 'pg';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { orderCoins } from '#orders/coins/order-coins.ts';
import { isShortfall } from '#orders/inscribing/order-terms.ts';
import { type FileMoney, moneyOfFiles, refundedFiles, undelivered } from '#orders/ledger/lost-files.ts';
import { orderEntries } from '#orders/ledger/order-entries.ts';
import { sharesOf } from '#orders/ledger/partner-shares.ts';
import { type OwedMoney, strayCostOf } from '#orders/ledger/settlements.ts';
import { unminedReason } from '#orders/mining/unmined.ts';
import { givenUpPlaces } from '#orders/minting/minting-standing.ts';
import type { Order } from '#orders/order/order.store.ts';
import { isDeep, type OrderFacts, paidAfterAll } from '#orders/order/order-facts.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { storedItems } from '#orders/order/stored-terms.ts';
import { candidates, progressOf } from '#orders/parents/deposits.ts';
import { isHoldingParents, type Return, returnOf } from '#orders/parents/returns.ts';
import { costsOf } from '#orders/pricing/coin-costs.ts';
import { stockGone } from '#orders/stock/stock-standing.ts';
import type { HeldCoin } from '#purse/coins/coin.ts';
import type { LedgerEntry } from '#purse/ledger/ledger.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';
import { refundedNow, refundProgress } from './decide-refund.ts';
import { type PlacedMoney, placeMoney } from './place-money.ts';
import { type OrderDepths, type OrderRecords, readRecords } from './read-records.ts';

type KnownRows = Pick<
  OrderRecords,
  | 'payments'
  | 'stocked'
  | 'items'
  | 'held'
  | 'transactions'
  | 'mining'
  | 'etching'
  | 'minting'
  | 'commitHeight'
>;

/** The facts of an order, the rows from which these facts come, and the actions that are due. */
export interface Known extends KnownRows, Pick<PlacedMoney, 'isMoneyShallow'> {
  readonly facts: OrderFacts;
  readonly reveals: readonly OrderTransaction[];
  /** The parents that the order uses, in the sequence of its terms. */
  readonly parents: ReturnType<typeof candidates>;
  /** The return that is due; null if no return is due. */
  readonly returned: Return | null;
  /** Whether a payment has an inscription or a rune, but the order has no return address. */
  readonly lacksReturnAddress: boolean;
  /** The outputs that a refund spends now; empty if no refund is due. */
  readonly refunded: readonly OwedMoney[];
  /** The entries that the order's ledger should have. */
  readonly entries: readonly LedgerEntry[];
  /**
   * The order's coins, each with its holder; null if nothing was ever paid to the order and no transaction was made.
   */
  readonly coins: readonly HeldCoin[] | null;
  /**
   * The reason why all reveals are given up. Null if the reveals are not given up. There are four possible reasons. The
   * miner refused the only reveal or did not answer. The name cannot be etched. The sats of all reveals are lost. No
   * mint can be executed.
   */
  readonly unmined: string | null;
  /**
   * Files or mints that can never be delivered, each with its money. Empty until the commit is deep in the chain. Also
   * empty if no other file or mint can be delivered.
   */
  readonly lost: readonly FileMoney[];
  /** Files whose money a refund spends. */
  readonly refundedFiles: readonly number[];
  /** Whether the order shares the fee of a bump. */
  readonly isBumped: boolean;
}

/** Reads the records of an order, places its money, and decides what is due. */
export async function learn(tx: pg.ClientBase, order: Order, depths: OrderDepths, now: Date): Promise<Known> {
  return knownFrom(order, await readRecords(tx, order, depths, now), depths, now);
}

/** Derives the facts and due actions from the records of an order. Pure. */
export function knownFrom(
  order: Order,
  records: OrderRecords,
  { returnMaxSats }: Pick<OrderDepths, 'returnMaxSats'>,
  now: Date,
): Known {
  const { payments, deposits, transactions, stocked } = records;
  const money = placeMoney(order, records);
  const reveals = transactions.filter(({ kind }) => kind === 'reveal');
  const { lost, refundedFiles: refunded, areAllLost } = lostOf(order, records);
  const unmined = areAllLost ?? unminedOf(records, now);
  const parents = candidates(
    order.terms.parents.length,
    deposits,
    { expiresAt: order.expiresAt, now },
    spentBy(transactions, 'return'),
  );
  const facts: OrderFacts = {
    costs: costsOf(order, payments.length),
    expiresAt: order.expiresAt,
    now,
    ...records.depth,
    payments: money.seen,
    parents: progressOf(parents),
    hasDeposits: deposits.some(({ state }) => state !== 'gone'),
    isCancelAsked: order.isCancelAsked,
    wasShort: order.error !== null && isShortfall(order.error),
    isRepriced: order.repriced !== null,
    wasPaid: order.paidAt !== null,
    isSatGone: stocked?.standing === 'gone',
    hasReveal: reveals.length > 0,
    ...deliveryFacts(records),
    ...runeFacts(records),
    isUnmined: unmined !== null,
    refund: refundProgress(order, records, money),
  };
  // the order is being delivered after all, so no money is refunded and no parent is returned
  const isBack = order.state === 'waiting-refund' && paidAfterAll(facts) !== null;
  const returned = isBack
    ? null
    : returnedNow(order, facts, records, money, { parents, costMax: returnMaxSats });
  return {
    ...rowsOf(records),
    facts,
    reveals,
    parents,
    unmined,
    lost,
    refundedFiles: refunded,
    returned,
    lacksReturnAddress: order.refundScript === null && money.holding.length > 0,
    refunded: isBack
      ? []
      : refundedNow(order, records, {
          ...money,
          isHoldingParents: isHoldingParents(money, deposits, parents),
        }),
    isMoneyShallow: money.isMoneyShallow,
    entries: orderEntries(order, records, money),
    coins: payments.length + deposits.length + transactions.length === 0 ? null : orderCoins(order, records),
    isBumped: records.bumps.length > 0,
  };
}

const deliveryFacts = ({
  isRevealed,
  isAnchorTaken,
  rune,
}: OrderRecords): Pick<OrderFacts, 'isRevealed' | 'isAnchorTaken' | 'rune'> => ({
  isRevealed,
  isAnchorTaken,
  rune,
});

/** The records that processing an order uses beside the facts. */
function rowsOf({
  payments,
  stocked,
  items,
  held,
  transactions,
  mining,
  etching,
  minting,
  commitHeight,
}: OrderRecords): KnownRows {
  return { payments, stocked, items, held, transactions, mining, etching, minting, commitHeight };
}

/**
 * The reason why the order's reveal is given up: the miner refused the reveal, or the name cannot be etched. Null if
 * the reveal is not given up.
 */
const unminedOf = ({ mining, etching }: OrderRecords, now: Date): string | null =>
  mining === null ? (etching?.fault ?? null) : unminedReason(mining, now);

const runeFacts = ({
  etching,
  minting,
}: OrderRecords): Pick<OrderFacts, 'isRevealHeld' | 'isNameLost' | 'isMinting'> => ({
  isMinting: minting !== null,
  isRevealHeld: etching?.isHeld === true,
  isNameLost: etching?.isNameLost === true,
});

/**
 * Indexes of files whose sats are permanently gone, or of mints that can never be executed, with the reason. Null if
 * the order has no such files or mints.
 */
function goneOf(
  { state }: Order,
  { stocked, minting }: OrderRecords,
): { readonly gone: readonly number[]; readonly why: string } | null {
  if (state === 'queued' && stocked !== null) return { gone: stocked.lost, why: stockGone };
  if (state !== 'waiting-rune-balance' || minting === null) return null;
  return {
    gone: givenUpPlaces(minting),
    why: minting.mints.find(({ fault }) => fault !== null)?.fault ?? '',
  };
}

/**
 * Files and mints of an active order that can never be delivered. `areAllLost` is the reason if no file or mint at all
 * can be delivered, else null.
 */
function lostOf(
  order: Order,
  records: OrderRecords,
): Pick<Known, 'lost' | 'refundedFiles'> & { readonly areAllLost: string | null } {
  const { transactions, commitHeight, depth } = records;
  const { terms } = order;
  const refunded = refundedFiles(terms, transactions);
  const isCommitted = transactions.some(({ kind }) => kind === 'commit');
  const found = goneOf(order, records);
  if (found === null || !isCommitted) return { lost: [], refundedFiles: refunded, areAllLost: null };
  const gone = new Set([...found.gone, ...refunded]);
  // only a block can undo a refund of single files, so the commit must be deep; if all files are lost, the whole order
  // is refunded
  const areAllLost = gone.size === storedItems(terms) ? found.why : null;
  const isDue = areAllLost === null && isDeep({ height: commitHeight }, depth);
  const lost = isDue ? moneyOfFiles(terms, transactions) : [];
  return {
    lost: lost.filter(({ file }) => gone.has(file) && !refunded.includes(file)),
    refundedFiles: refunded,
    areAllLost,
  };
}

/** Decides which parents and holdings are returned now. */
function returnedNow(
  order: Order,
  facts: OrderFacts,
  { deposits, transactions, held }: OrderRecords,
  { spent, seen, holding, owed, ours, rests, isMoneyComing }: PlacedMoney,
  { parents, costMax }: { readonly parents: Known['parents']; readonly costMax: bigint },
): Return | null {
  const shares = sharesOf(order, undelivered(order, transactions));
  const withParents = new Set([
    ...deposits.filter(({ state }) => state === 'here').map(({ payment }) => outpointOf(payment)),
    ...[...held].filter(([, { isParent }]) => isParent).map(([outpoint]) => outpoint),
  ]);
  return returnOf({
    state: order.state,
    facts,
    deposits,
    candidates: parents,
    spent,
    payments: seen,
    holding,
    refundDust: order.refundScript === null ? null : BigInt(dustOf(order.refundScript)),
    owed,
    ours,
    share: shares.reduce((sum, { additional, commission }) => sum + additional + commission, 0n),
    ourCost: rests.ourCost,
    strayCost: strayCostOf(transactions, withParents, rests.ours),
    costMax,
    isMoneyComing,
  });
}
