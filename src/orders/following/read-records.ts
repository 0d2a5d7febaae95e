import assert from 'node:assert/strict';
import type pg from 'pg';
import { indexedTip } from '#chain/blocks/index-tip.queries.ts';
import { burnedReveals, indexedReveals } from '#chain/inscriptions/reveal.queries.ts';
import { outputStandings } from '#chain/sats/output-standing.queries.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { type OrderBump, readBumps, spentByOthers } from '#orders/bumping/bump.store.ts';
import { type ItemsStanding, keepCollectionItems } from '#orders/collections/collection-standing.ts';
import { readRuneStanding } from '#orders/collections/rune-progress.ts';
import { type EtchingStanding, readEtchingStanding } from '#orders/etching/etching-standing.ts';
import { giveUpEtchings } from '#orders/etching/etchings.store.ts';
import { refundedFiles } from '#orders/ledger/lost-files.ts';
import { isClosing, strandedCommit } from '#orders/ledger/settlements.ts';
import { giveUpPackages, noteMined, readPackages } from '#orders/mining/packages.store.ts';
import type { StoredPackage } from '#orders/mining/unmined.ts';
import {
  areMintsDecided,
  failedMints,
  givenUpPlaces,
  keepMints,
  type MintingStanding,
} from '#orders/minting/minting-standing.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderFacts, RuneProgress } from '#orders/order/order-facts.ts';
import {
  type OrderTransaction,
  readDeliveries,
  readTransactions,
  reviveMined,
  supersedeOfOrders,
} from '#orders/order/order-transactions.store.ts';
import type { Deposit } from '#orders/parents/deposits.ts';
import { type HeldPayments, readHeldPayments } from '#orders/parents/held-payments.ts';
import { readDeposits } from '#orders/parents/read-deposits.ts';
import { keepReservations, type Reservation, readReservations } from '#orders/stock/reservations.store.ts';
import { isLost, type StockStanding, standingOfAll, stockStanding } from '#orders/stock/stock-standing.ts';
import { ownWatcherOf, refundWatcherOf, watcherOf } from '#orders/watching/watchers.ts';
import { outputsThereAmong, readPayments, type WatchedPayment } from '#payments/payments.queries.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import { outpointOf, outpointParts } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';
import { mayBeDelivered, outputsThere, splitOrphans } from './live-transactions.ts';

/** Confirmations that are required, the maximum cost of returns, and the network. */
export interface OrderDepths {
  /** Number of confirmations that the payments of an order of this amount need before they are spent. */
  readonly confirmationsFor: (amount: bigint) => number;
  /** Number of confirmations that inscriptions need in the index before their order is completed. */
  readonly finalConfirmations: number;
  /** Maximum cost of the returns of one order, in sats (ORDER_RETURN_MAX_SATS). */
  readonly returnMaxSats: bigint;
  /** The network, which decides when names unlock. */
  readonly network: NetworkParameters;
}

/** The rows of an order, with the data of the payments table and the index about them. */
export interface OrderRecords extends Pick<OrderFacts, 'isRevealed' | 'isAnchorTaken'> {
  /** `tip`: the last block whose payments are known. `confirmations`: the number that payments of this order need. */
  readonly depth: Pick<OrderFacts, 'tip' | 'confirmations'>;
  /** Payments to the order's address, including payments that are gone. */
  readonly payments: readonly WatchedPayment[];
  readonly deposits: readonly Deposit[];
  /** Stored transactions that can be mined. Each transaction comes after the transactions that it spends. */
  readonly transactions: readonly OrderTransaction[];
  readonly bumps: readonly OrderBump[];
  /** Txids of refunds and returns in blocks. */
  readonly mined: ReadonlySet<string>;
  /** Inscriptions and runes of unspent payments, from the index. */
  readonly held: HeldPayments;
  /** Our outputs of this order that are spent by bumps or transactions of other orders. */
  readonly lent: ReadonlySet<string>;
  /** The order's reservations in the inventory; null if the order uses no inventory sats. */
  readonly stocked: Stocked | null;
  /** State of the order's items; null if the order is not for a collection. */
  readonly items: ItemsStanding | null;
  /** Progress of the order's rune payment; null if the price is in sats only. */
  readonly rune: RuneProgress | null;
  /** Package of the order's reveal for a miner; null if nodes relay the order's reveals. */
  readonly mining: StoredPackage | null;
  /** State of the order's etching; null if the order etches nothing. */
  readonly etching: EtchingStanding | null;
  /** State of the order's mints; null if the order mints nothing. */
  readonly minting: MintingStanding | null;
  /**
   * Height of the commit's block. It is only read if a refund may spend the commit's outputs. Null if it is not read,
   * or if no block with the commit is known.
   */
  readonly commitHeight: Height | null;
}

export interface Stocked {
  /** One reservation for each file, in the sequence of the files. */
  readonly reservations: readonly Reservation[];
  /** State of all reservations together. */
  readonly standing: StockStanding;
  /** Indexes of files whose sats are permanently gone. */
  readonly lost: readonly number[];
  /**
   * Outputs that stored reveals of the order may spend, now or once a missing output is back. Format: `<txid>:<vout>`.
   */
  readonly spendable: readonly string[];
}

/**
 * Reads the records of an order. Supersedes transactions that can never be mined, and restores superseded transactions
 * that are in a block.
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
  // read payments after deposits, so that the money of a known parent's transaction is also known, and can pay for the
  // parent's return
  const payments = await readPayments(tx, watcherOf(order.id));
  await reviveMined(tx, order.id);
  const made = await readTransactions(tx, order.id);
  const bumpsBefore = await readBumps(tx, order.id);
  const stocked = await readStocked(tx, order, made, now);
  const there = new Set([
    ...outputsThere([...payments, ...deposits.map(({ payment }) => payment)], bumpsBefore),
    ...(stocked?.spendable ?? []),
    ...(await readCoins(tx, made)),
  ]);
  const { rune, live } = await readRuneStanding(tx, order, await supersedeOrphans(tx, made, there));
  const items = await readItems(tx, order, { made, payments, there, tip: depth.tip }, depths, now);
  const mining = await readPackage(tx, order, live);
  const [reveal = null] = txidsOf(live, 'reveal');
  const etching = await readEtchingStanding(tx, order, reveal, depths);
  const minting = await keepMints(tx, order, live, now);
  const kept = withFailed(live, minting);
  const transactions = await supersedeGivenUp(tx, order, kept, { mining, etching });
  // bumps of orphans are superseded together with the orphans, so read again
  const bumps = transactions.length === made.length ? bumpsBefore : await readBumps(tx, order.id);
  // only returns spend our outputs, so only a return needs to know which outputs other orders spend
  const spent = spentBy(transactions);
  const left = payments.filter((payment) => payment.goneAt === null && !spent.has(outpointOf(payment)));
  const held = await readHeldPayments(tx, order, left);
  const mayReturn = order.terms.parents.length > 0 || [...held.values()].some(({ isHolding }) => isHolding);
  const lent = mayReturn ? await spentByOthers(tx, order.id) : [];
  const delivery = await readDelivery(
    tx,
    order,
    { transactions, etching, minting },
    depths.finalConfirmations,
  );
  const mined = await readMinedClosings(tx, order, transactions);
  return {
    depth,
    commitHeight: await readCommitHeight(tx, order, {
      transactions,
      payments,
      mining,
      etching,
      minting,
      stocked,
    }),
    payments,
    deposits,
    transactions,
    bumps,
    mined,
    held,
    lent: new Set(lent),
    stocked,
    items,
    rune,
    mining,
    etching,
    minting,
    ...delivery,
  };
}

interface DeliveryRecords extends Pick<OrderRecords, 'payments'>, Pick<OrderFacts, 'tip'> {
  /** The order's transactions that are not superseded. */
  readonly made: readonly OrderTransaction[];
  readonly there: ReadonlySet<string>;
}

/**
 * Keeps the collection items of an order while the order needs them, and returns their state; null if the order is not
 * for a collection.
 */
async function readItems(
  tx: pg.ClientBase,
  order: Order,
  { made, payments, there, tip }: DeliveryRecords,
  { finalConfirmations }: Pick<OrderDepths, 'finalConfirmations'>,
  now: Date,
): Promise<ItemsStanding | null> {
  if (order.request.collection === undefined) return null;
  // nothing was signed if there is no payment
  const deliveries = payments.length === 0 ? [] : await readDeliveries(tx, order.id);
  const closings = deliveries.length === 0 ? [] : made.filter(isClosing);
  const paid = closings.length === 0 || tip === null ? [] : await readPayments(tx, refundWatcherOf(order.id));
  const deep = new Set(
    paid.flatMap(({ block, txid }) =>
      block !== null && tip !== null && tip - block.height + 1 >= finalConfirmations
        ? [displayHash(txid)]
        : [],
    ),
  );
  const deepClosings = closings.filter(({ txid, height }) => height !== null || deep.has(displayHash(txid)));
  return keepCollectionItems(tx, order, mayBeDelivered(deliveries, deepClosings, there), now);
}

/**
 * Keeps the reservations of an order while its state needs them, and returns them; null if the order uses no inventory
 * sats.
 */
async function readStocked(
  tx: pg.ClientBase,
  order: Order,
  transactions: readonly OrderTransaction[],
  now: Date,
): Promise<Stocked | null> {
  if (order.terms.inventory === undefined) return null;
  await keepReservations(tx, order, now);
  const reservations = await readReservations(tx, order.id);
  assert(
    reservations.length === order.request.count,
    'an order of the inventory has reserved a sat for each file',
  );
  const reveals = transactions.filter(({ kind }) => kind === 'reveal');
  const found = await outputStandings(
    tx,
    reservations.map((reservation) => ({ ...reservation, reveals: revealsOf(reservation, reveals) })),
  );
  const standings = reservations.map((reservation, file): StockStanding => {
    const standing = found[file];
    assert(standing !== undefined, 'each output has a standing');
    return stockStanding(reservation, standing);
  });
  const spendable = reservations.filter(({ isReleased }, file) => {
    // a single reveal is not given up here, because the other reveals of a sent commit can be mined without this sat
    return standings[file] !== 'gone' || (order.paidTo === 'wallet' && !isReleased);
  });
  const lost = reservations.flatMap((reservation, file) => {
    const standing = found[file];
    return standing !== undefined && isLost(reservation, standing) ? [file] : [];
  });
  return { reservations, standing: standingOfAll(standings), lost, spendable: spendable.map(outpointOf) };
}

/** The reveals that spend a reserved output. At most one of these reveals can be mined. */
const revealsOf = (reservation: Reservation, reveals: readonly OrderTransaction[]): Txid[] =>
  reveals
    .filter(({ plan }) => plan.inputs.some(({ outpoint }) => outpoint === outpointOf(reservation)))
    .map(({ txid }) => txid);

/**
 * Coins of the operator that transactions of the order spend. Coins that are in no block and not in the mempool are
 * left out.
 */
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

/** Supersedes transactions that can never be mined, because their inputs are gone. Returns the other transactions. */
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

/** The package of the reveal that may be mined, or else the newest package; null if there is no package. */
async function readPackage(
  tx: pg.ClientBase,
  order: Order,
  transactions: readonly OrderTransaction[],
): Promise<StoredPackage | null> {
  if (!order.terms.nonStandard || !transactions.some(({ kind }) => kind === 'commit')) return null;
  await noteMined(tx, order.id);
  const packages = await readPackages(tx, order.id);
  const reveals = txidsOf(transactions, 'reveal').map((txid) => displayHash(txid));
  return packages.find(({ reveal }) => reveals.includes(displayHash(reveal))) ?? packages.at(-1) ?? null;
}

type CommitRecords = Pick<
  OrderRecords,
  'transactions' | 'payments' | 'mining' | 'etching' | 'minting' | 'stocked'
>;

/**
 * Whether a refund may spend the outputs of a commit. A stranded commit alone is a reason only in a state of refunds,
 * because in other states the order may still be delivered.
 */
const mayRefundCommit = (
  order: Order,
  { transactions, mining, etching, minting, stocked }: CommitRecords,
): boolean =>
  mining !== null ||
  etching !== null ||
  (minting !== null && givenUpPlaces(minting).length > 0) ||
  (stocked !== null && stocked.lost.length > 0) ||
  (isOver(order) && strandedCommit(transactions) !== null);

/**
 * Reads the height of a commit that a refund may spend. The block is found by the commit's output for the first reveal.
 * If this output is not known yet, it is watched from now on, and blocks since the first payment are searched for it.
 */
async function readCommitHeight(
  tx: pg.ClientBase,
  order: Order,
  records: CommitRecords,
): Promise<Height | null> {
  const { transactions, payments } = records;
  const commit = transactions.find(({ kind }) => kind === 'commit');
  const first = commit?.plan.outputs[0];
  if (commit === undefined || first === undefined || !mayRefundCommit(order, records)) return null;
  const { id } = order;
  const seen = await readPayments(tx, ownWatcherOf(id));
  const own = seen.filter(({ txid }) => displayHash(txid) === displayHash(commit.txid));
  const heights = payments.flatMap(({ block }) => (block === null ? [] : [block.height]));
  if (own.length === 0 && heights.length > 0)
    await watchScripts(tx, ownWatcherOf(id), [
      { script: Buffer.from(first.script, 'hex'), sinceHeight: asHeight(Math.min(...heights)) },
    ]);
  return own.find(({ block }) => block !== null)?.block?.height ?? null;
}

/**
 * Returns the transactions, some of them marked. A transaction is marked if blocks show that it is a failed mint, or if
 * a refund spends its output.
 */
function withFailed(
  transactions: readonly OrderTransaction[],
  minting: MintingStanding | null,
): readonly OrderTransaction[] {
  if (minting === null) return transactions;
  const failed = failedMints(minting.mints);
  const refunded = spentBy(transactions, 'refund');
  return transactions.map((made) => {
    const { txid, kind, plan } = made;
    // a refund of our output is kept, even if a reorganisation later makes the mint succeed
    const isRefunded =
      kind === 'reveal' && plan.outputs.some((_, vout) => refunded.has(outpointOf({ txid, vout })));
    return { ...made, isFailed: isRefunded || failed.has(displayHash(txid)) };
  });
}

/** Whether the order is in a state where its remaining money is refunded. */
const isOver = ({ state }: Pick<Order, 'state'>): boolean =>
  state === 'waiting-refund' || state === 'refunded';

/**
 * Supersedes a reveal that had been given up and was restored together with its commit, if a block contains only the
 * commit. The commit's output is then refunded.
 */
async function supersedeGivenUp(
  tx: pg.ClientBase,
  { state }: Order,
  transactions: readonly OrderTransaction[],
  { mining, etching }: Pick<OrderRecords, 'mining' | 'etching'>,
): Promise<readonly OrderTransaction[]> {
  const isGivenUp = mining !== null && mining.givenUpAt !== null && !mining.isMined;
  if (!isOver({ state }) || !(isGivenUp || etching?.isGivenUp === true)) return transactions;
  const reveals = txidsOf(transactions, 'reveal');
  if (reveals.length === 0) return transactions;
  await supersedeOfOrders(tx, reveals);
  return transactions.filter(({ kind }) => kind !== 'reveal');
}

/**
 * Gives up all reveals, because the miner did not mine the only reveal, its name is taken, or the sats of all reveals
 * are lost. A commit that was sent or is in a block is kept. A refund then spends the commit's outputs by key, so that
 * either a reveal or the refund is mined. An unsent commit is given up, too.
 */
export async function giveUpReveals(
  tx: pg.ClientBase,
  { id }: Pick<Order, 'id'>,
  {
    transactions,
    mining,
    etching,
    commitHeight,
  }: Pick<OrderRecords, 'transactions' | 'mining' | 'etching' | 'commitHeight'>,
): Promise<void> {
  assert(
    mining?.isMined !== true && (etching?.minedHeight ?? null) === null,
    `order ${id} gives up a reveal that no block has`,
  );
  const commit = transactions.find(({ kind }) => kind === 'commit');
  const isKept = commit !== undefined && (commit.sentAt !== null || commitHeight !== null);
  await giveUpPackages(tx, id);
  if (etching?.fault != null) await giveUpEtchings(tx, id, etching.fault);
  await supersedeOfOrders(tx, [
    ...txidsOf(transactions, 'reveal'),
    ...(isKept ? [] : txidsOf(transactions, 'commit')),
  ]);
  failpoint('order-unmined');
}

const txidsOf = (transactions: readonly OrderTransaction[], of: OrderTransaction['kind']): Txid[] =>
  transactions.filter(({ kind }) => kind === of).map(({ txid }) => txid);

/**
 * Reads from the index whether the delivery of an order is complete and deep enough, and whether another transaction
 * took one of the anchors.
 */
async function readDelivery(
  tx: pg.ClientBase,
  { request, terms }: Order,
  { transactions, etching, minting }: Pick<OrderRecords, 'transactions' | 'etching' | 'minting'>,
  confirmations: number,
): Promise<Pick<OrderRecords, 'isRevealed' | 'isAnchorTaken'>> {
  const refunded = refundedFiles(terms, transactions);
  if (minting !== null) {
    const tip = await indexedTip(tx);
    return { isRevealed: areMintsDecided(minting, refunded, { tip, confirmations }), isAnchorTaken: false };
  }
  const reveals = txidsOf(transactions, 'reveal');
  if (reveals.length === 0) return { isRevealed: false, isAnchorTaken: false };
  const found = terms.burn
    ? await burnedReveals(tx, reveals, txidsOf(transactions, 'burn'))
    : { ...(await indexedReveals(tx, reveals)), taken: 0 };
  const { count, tip, taken } = found;
  const height = etching === null ? found.height : etching.minedHeight;
  const isDeepEnough = height !== null && tip !== null && tip - height + 1 >= confirmations;
  const wanted = request.count - refunded.length;
  return { isRevealed: count === wanted && isDeepEnough, isAnchorTaken: taken > 0 };
}

/**
 * Txids of an order's refunds and returns in blocks. They are found because the scripts of their outputs are watched.
 */
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
