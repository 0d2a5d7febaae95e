import type pg from 'pg';
import { isBlockIndexed } from '#chain/blocks/index-tip.queries.ts';
import { Waker } from '#kernel/concurrency/waker.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { levelOfFailure } from '#kernel/errors/node-away.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { workUnderLock } from '#kernel/pg/work-under-lock.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { ordersOfBumps } from '#orders/bumping/bump.store.ts';
import { Bumper, type BumperParts } from '#orders/bumping/bumper.ts';
import { CoinsFilling } from '#orders/coins/fill-coins.ts';
import { dueEtchings } from '#orders/etching/etchings.store.ts';
import { releaseRipe } from '#orders/etching/release-ripe.ts';
import { bookFunds } from '#orders/funds/book-funds.ts';
import type { ReturnCoins } from '#orders/funds/return-coins.ts';
import type { LockTimes } from '#orders/grinding/lock-times.ts';
import {
  dueOrders,
  lookAgain,
  moveOrdersOffset,
  ordersPaidInBlocks,
  ordersWaitingForBlocks,
  readOrdersOffset,
  recentlyDeliveredOrders,
  type Tips,
  tipsOf,
} from '#orders/order/order.store.ts';
import { settleBumpsOfOrders } from '#orders/order/order-transactions.store.ts';
import { ordersChannel } from '#orders/order/order-wishes.store.ts';
import type { ArrivedSats } from '#orders/sats/arrived-sats.ts';
import { putNodePolicy } from '#orders/sending/node-policy.store.ts';
import type { NodeStanding } from '#orders/sending/node-standing.ts';
import type { NodeWatch } from '#orders/sending/node-watch.ts';
import { TransactionSender } from '#orders/sending/send-transactions.ts';
import { endRefundWatches, ordersOfTransactions } from '#orders/watching/refund-watches.store.ts';
import { isOwnWatcher, isRefundWatcher, orderOfWatcher } from '#orders/watching/watchers.ts';
import { listenForPayments } from '#payments/listen-for-payments.ts';
import { readPaymentChanges } from '#payments/payments.queries.ts';
import { noteDeepBlocks } from '#purse/transactions/deep-blocks.store.ts';
import { OutputTaken } from '#purse/transactions/spends.store.ts';
import { ordersWithNews } from '#tokenpay/inscribing/inscription-fees.store.ts';
import type { Releasing } from '#wallet/indices/release-indices.ts';
import { failOrder, MakingFault, type OrderSteps, processOrder, tryAgainMs } from './process-order.ts';
import { decideRefundWishes } from './refund-wishes.ts';

export interface FollowOrdersOptions {
  /** URL of the database, for the role that owns its tables. */
  readonly url: string;
  readonly node: NodeRpc;
  /** Watches the same node. */
  readonly watch: NodeWatch;
  readonly steps: OrderSteps;
  readonly bumps: Pick<BumperParts, 'signer' | 'policy' | 'proveFree' | 'reserved' | 'onFigures'>;
  /** Searches for lock times; the steps of orders wait for these searches. */
  readonly lockTimes: LockTimes;
  readonly arrivedSats: ArrivedSats;
  /**
   * Releases indices of the wallet for new orders, until the signal is aborted. Null if another part of the service
   * releases indices.
   */
  readonly releaseIndices: ((signal: AbortSignal) => Releasing) | null;
  /**
   * Hands transactions that nodes do not relay to a miner, until the signal is aborted. Null if the service has no
   * miner.
   */
  readonly handPackages: ((signal: AbortSignal) => Promise<void>) | null;
  /** Coins of the service, for returns. */
  readonly returnCoins: ReturnCoins;
  /** Creates the work in addition to orders, on the same connection. Absent if there is no such work. */
  readonly beside?: (client: pg.ClientBase) => BesideOrders;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Work in addition to orders. It runs under the same lock, so that nothing else signs at the same time. */
export interface BesideOrders {
  /**
   * Runs one round. Throws if the database or the node does not answer.
   *
   * @param standing state of the node, or null if the node does not answer
   * @param isAll true after a block and once a minute; everything that is not in a block is then sent again
   */
  look(standing: NodeStanding | null, isAll: boolean): Promise<void>;
}

/** Maximum number of payment changes to read in one round. This is enough for a block that pays 1000 orders. */
const changesMax = 1000;
/** Maximum number of due orders to process in one round. Processing them takes a few hundred milliseconds. */
const dueMax = 200;
/** Number of orders to process before their transactions are sent. Processing them takes about a second. */
const sentAtOnce = 25;
/**
 * How often the tips are compared, in ms. Notifications alone are not enough, because they may be lost. Also, a block
 * that pays no order sends no notification.
 */
const pollMs = 500;
/** How often an unmined transaction is sent again, in ms. A restarted node may have lost its mempool. */
const broadcastEveryMs = 60_000;

/**
 * Processes all orders, as payments, blocks and time require, until the signal is aborted. One process per database
 * does this work; a second process waits to replace it. Every decision comes from tables, so a killed process loses
 * nothing, and the next process resumes.
 */
export async function followOrders(options: FollowOrdersOptions): Promise<void> {
  const { url, signal, log } = options;
  await workUnderLock(
    {
      url,
      applicationName: 'satscribe orders',
      lock: 'orders',
      what: 'orders',
      signal,
      log,
      hasCookieFile: true,
    },
    (client) => follow(client, options),
  );
}

const follow = (client: pg.Client, options: FollowOrdersOptions): Promise<void> =>
  withWorkBeside(options, (signal) => followRounds(client, { ...options, signal }));

/**
 * Follows orders by `rounds`, and does two other jobs at the same time. The first job releases indices for new orders,
 * because the indices would run out during a round. The second job hands packages to a miner, because the miner may not
 * answer for minutes. Indices are released until the last round has ended, because that round may need an index.
 *
 * @param rounds ends once the signal that it receives is aborted
 */
export async function withWorkBeside(
  {
    releaseIndices,
    handPackages,
    signal,
  }: Pick<FollowOrdersOptions, 'releaseIndices' | 'handPackages' | 'signal'>,
  rounds: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const either = AbortSignal.any([signal, controller.signal]);
  const releasing = releaseIndices?.(controller.signal) ?? null;
  const beside = [
    ...(releasing === null ? [] : [releasing.ended]),
    ...(handPackages === null ? [] : [handPackages(either)]),
  ];
  try {
    const endBeforeRounds = (): void => controller.abort();
    signal.addEventListener('abort', endBeforeRounds, { once: true });
    if (signal.aborted) endBeforeRounds();
    // once orders are followed, clients may order, so indices must be released first
    await releasing?.tried;
    signal.removeEventListener('abort', endBeforeRounds);
    for (const ended of beside) ended.catch(() => controller.abort());
    await rounds(either);
  } finally {
    controller.abort();
    await Promise.allSettled(beside);
  }
  // this rejects if one of the jobs failed with an error that is not retried
  await Promise.all(beside);
}

async function followRounds(client: pg.Client, options: FollowOrdersOptions): Promise<void> {
  const { lockTimes, arrivedSats, signal, log } = options;
  const waker = new Waker();
  lockTimes.onEnd(() => waker.wake());
  arrivedSats.onEnd(() => waker.wake());
  await listenForPayments(client, () => waker.wake());
  await client.query(`LISTEN ${ordersChannel}`);
  client.on('notification', ({ channel }) => {
    if (channel === ordersChannel) waker.wake();
  });
  log.info('orders are followed');
  const round = new OrderRounds(client, options);
  while (!signal.aborted) {
    await round.next();
    if (!round.isFilled) waker.wake();
    await waker.wait(pollMs, signal);
  }
}

class OrderRounds {
  readonly #client: pg.Client;
  readonly #options: FollowOrdersOptions;
  readonly #sender: TransactionSender;
  readonly #bumper: Bumper;
  /** Tips of the last round; null before this process has completed a round. */
  #tips: Tips | null = null;
  /**
   * Orders that may have been processed with a block after these tips. If a reorganisation removes that block, the tips
   * do not show the change, so these orders are processed again.
   */
  #seenLater: readonly string[] = [];
  #broadcastAt = -Infinity;
  /** The last stored state of the node. */
  #told: NodeStanding | null = null;
  readonly #repeats = new Repeats();
  readonly #coins: CoinsFilling;
  readonly #beside: BesideOrders | null;

  constructor(client: pg.Client, options: FollowOrdersOptions) {
    this.#client = client;
    this.#options = options;
    this.#sender = new TransactionSender({ ...options, client });
    this.#coins = new CoinsFilling(options.log);
    this.#bumper = new Bumper({ ...options, ...options.bumps, client });
    this.#beside = options.beside?.(client) ?? null;
  }

  /** Whether all coins of the wallet are listed. */
  get isFilled(): boolean {
    return this.#coins.isComplete;
  }

  /** Runs one round, which processes everything that is new. */
  async next(): Promise<void> {
    const { lockTimes, arrivedSats, returnCoins, signal, watch } = this.#options;
    const tips = await tipsOf(this.#client);
    const isNewTip = !isSame(tips, this.#tips);
    // a restarted node may have lost its mempool
    if ((await watch.look(isNewTip)) === 'restarted') this.#broadcastAt = -Infinity;
    await this.#tellPolicy();
    if (isNewTip) await this.#releaseReveals();
    const found = lockTimes.ended();
    const due = await dueOrders(this.#client, new Date(), dueMax);
    const inRunes = await ordersWithNews(this.#client, dueMax);
    const funded = await this.#findCoins();
    const touched = new Set<string>([
      ...this.#seenLater,
      ...due,
      ...inRunes,
      ...found,
      ...funded,
      ...arrivedSats.ended(),
    ]);
    const changed = await this.#changes(touched);
    if (isNewTip) for (const id of await this.#ofBlocks(tips)) touched.add(id);
    for (const id of await this.#wishes()) touched.add(id);
    const unsent = await this.#processAll(touched);
    if (signal.aborted) return;
    returnCoins.release();
    await this.#coins.next(this.#client);
    for (const id of found) lockTimes.forget(id);
    if (changed !== null) {
      await moveOrdersOffset(this.#client, changed);
      failpoint('order-followed');
    }
    if (isNewTip) await this.#bookBlocks();
    this.#seenLater = isSame(tips, await tipsOf(this.#client)) ? [] : [...touched];
    this.#tips = tips;
    await this.#broadcast(isNewTip, unsent);
  }

  /** Stores the fee rates that the node accepts, for the processes that accept orders. */
  async #tellPolicy(): Promise<void> {
    const { standing } = this.#options.watch;
    if (standing === null || standing === this.#told) return;
    await putNodePolicy(this.#client, standing);
    this.#told = standing;
  }

  /** Decides requested refunds. Returns the orders whose refunds were decided. */
  async #wishes(): Promise<string[]> {
    try {
      return await decideRefundWishes({ ...this.#options, client: this.#client });
    } catch (error) {
      // if the node does not answer, the requests are kept until it answers
      if (error instanceof AppError && error.code.startsWith('node_')) return [];
      throw error;
    }
  }

  /** Books changes in blocks, except payments of orders. */
  async #bookBlocks(): Promise<void> {
    await withTransaction(this.#client, bookFunds);
    await endRefundWatches(this.#client);
    await noteDeepBlocks(this.#client, { kind: 'bumps' });
  }

  /** Finds coins of the service for the orders that need one. Returns the orders for which a coin was found. */
  async #findCoins(): Promise<string[]> {
    const { returnCoins, node, bumps, log } = this.#options;
    const { proveFree, reserved } = bumps;
    try {
      return await returnCoins.find({ client: this.#client, node, proveFree, reserved, log });
    } catch (error) {
      // if the node does not answer, the orders ask for coins again in a later round
      if (error instanceof AppError && error.code.startsWith('node_')) return [];
      throw error;
    }
  }

  /** Orders that the blocks since the last round may change. */
  async #ofBlocks(tips: Tips): Promise<string[]> {
    const waiting = [
      ...(await ordersWaitingForBlocks(this.#client)),
      ...(await dueEtchings(this.#client)),
      // the index now knows the contents of these payments
      ...(await ordersPaidInBlocks(this.#client, this.#tips?.height ?? null, tips.height)),
    ];
    // delivered orders can change only after a reorganisation, so they are left out if there was no reorganisation
    const isFollowed =
      this.#tips !== null && (await isBlockIndexed(this.#client, this.#tips.height, this.#tips.index));
    return isFollowed ? waiting : [...waiting, ...(await recentlyDeliveredOrders(this.#client))];
  }

  /**
   * Adds to `touched` the orders whose payments changed. Returns the number of the last change, or null if nothing
   * changed.
   */
  async #changes(touched: Set<string>): Promise<number | null> {
    const after = await readOrdersOffset(this.#client);
    const changes = await readPaymentChanges(this.#client, after, changesMax);
    const told = changes.flatMap(({ watchers, payment: { txid } }) =>
      watchers.map((watcher) => ({ watcher, txid })),
    );
    const txidsOf = (isOf: (watcher: string) => boolean): Txid[] =>
      told.filter(({ watcher }) => isOf(watcher)).map(({ txid }) => txid);
    for (const { watcher } of told) {
      const id = orderOfWatcher(watcher);
      if (id !== null) touched.add(id);
    }
    // refund addresses also receive payments of other people (an exchange's address receives them all the time), so
    // only our transactions matter here
    const closing = txidsOf(isRefundWatcher);
    const ours = txidsOf(isOwnWatcher);
    // a payment to our own output shows that a transaction was mined although it had been given up
    for (const id of await ordersOfTransactions(this.#client, [...closing, ...ours])) touched.add(id);
    if (ours.length > 0) for (const id of await ordersOfBumps(this.#client, ours)) touched.add(id);
    const last = changes.at(-1);
    if (last === undefined) return null;
    // settle bumps before any order is processed, because the bumps may concern orders of this round
    for (const id of await withTransaction(this.#client, settleBumpsOfOrders)) touched.add(id);
    return last.payment.change;
  }

  /** Sends reveals that a new block made valid. Runs before the orders of these reveals are processed. */
  async #releaseReveals(): Promise<void> {
    const released = await releaseRipe(this.#client, this.#options.steps.network);
    if (released.length > 0) failpoint('etchings-released');
    // the commits are in blocks, so the reveals can be sent alone
    if (released.length > 0) await this.#withNode(() => this.#sender.sendAtOnce(released));
  }

  /**
   * Processes orders, and sends their new transactions in batches. Returns the orders whose new transactions are not
   * sent yet.
   */
  async #processAll(touched: ReadonlySet<string>): Promise<readonly string[]> {
    let unsent: string[] = [];
    let isReached = true;
    for (const id of touched) {
      if (this.#options.signal.aborted) break;
      await this.#process(id);
      unsent.push(id);
      if (!isReached || unsent.length < sentAtOnce) continue;
      // if the node does not answer, all transactions wait
      isReached = await this.#sendNew(unsent);
      if (isReached) unsent = [];
    }
    return unsent;
  }

  async #process(id: string): Promise<void> {
    const { steps, log } = this.#options;
    try {
      await withTransaction(this.#client, (tx) => processOrder(tx, id, steps, new Date()));
      failpoint('order-committed');
    } catch (thrown) {
      const cause = thrown instanceof MakingFault ? thrown.cause : thrown;
      if (cause instanceof OutputTaken) {
        log.warn(
          { err: cause },
          'another transaction has spent an output of an order, so the order is planned again',
        );
        await lookAgain(this.#client, id, new Date(Date.now() + tryAgainMs));
        return;
      }
      const error = postgresFailure(cause);
      // if the database fails, stop the round; any other error of an order must not stop the other orders
      if (error instanceof AppError && error.code.startsWith('postgres_')) throw error;
      log.error({ err: error }, 'an order could not be processed; it is tried again in a minute');
      await withTransaction(this.#client, (tx) => failOrder(tx, id, steps, thrown));
      await lookAgain(this.#client, id, new Date(Date.now() + tryAgainMs));
    }
  }

  /**
   * Sends new transactions of these orders. Returns false if the node does not answer; the transactions are then sent
   * later.
   */
  #sendNew(orderIds: readonly string[]): Promise<boolean> {
    return this.#withNode(() => this.#sender.send(orderIds, this.#options.watch.standing?.cluster));
  }

  /**
   * Sends stored transactions that are not in a block. Sends all of them after each block and once a minute, and
   * otherwise only the new transactions of these orders.
   */
  async #broadcast(isNewTip: boolean, orderIds: readonly string[]): Promise<void> {
    const { standing } = this.#options.watch;
    const isAll = isNewTip || performance.now() - this.#broadcastAt > broadcastEveryMs;
    if (isAll) this.#broadcastAt = performance.now();
    await this.#withNode(async () => {
      if (isAll) {
        await this.#sender.send(null, standing?.cluster);
        if (standing !== null) await this.#bumper.look(standing, new Date());
      } else if (orderIds.length > 0) await this.#sender.send(orderIds, standing?.cluster);
      await this.#beside?.look(standing, isAll);
    });
  }

  /**
   * Runs `work`, and returns false if the node does not answer. Payments are followed without the node; stored
   * transactions are sent once the node answers.
   */
  async #withNode(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof AppError) || !error.code.startsWith('node_')) throw error;
      this.#broadcastAt = -Infinity;
      if (this.#repeats.isDue(error.code))
        this.#options.log[levelOfFailure(error)]({ err: error }, 'transactions of orders could not be sent');
      return false;
    }
  }
}

const isSame = (tips: Tips, before: Tips | null): boolean =>
  before !== null && isOne(tips.index, before.index) && isOne(tips.payments, before.payments);

const isOne = (a: Buffer | null, b: Buffer | null): boolean =>
  a === b || (a !== null && b !== null && a.equals(b));
