import type pg from 'pg';
import { indexTipHash } from '#chain/blocks/index-tip.queries.ts';
import { Waker } from '#kernel/concurrency/waker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { workUnderLock } from '#kernel/pg/work-under-lock.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { listenForPayments } from '#payments/listen-for-payments.ts';
import { readPaymentChanges } from '#payments/payments.queries.ts';
import { paymentsTipHash, readPaymentsOffset } from '#payments/store/offset.store.ts';
import {
  dueTokenOrders,
  keepWaiting,
  moveTokenOffset,
  readTokenOffset,
  waitingTokenOrders,
} from '#tokenpay/order/token-order.store.ts';
import type { CreditingPolicy } from '#tokenpay/order/token-policy.ts';
import { orderOfTokenWatcher } from '#tokenpay/order/watchers.ts';
import { bringOn } from './bring-on.ts';

export interface FollowTokenOrdersOptions {
  /** The database, as the role that owns its tables. */
  readonly url: string;
  readonly policy: CreditingPolicy;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Maximum number of payment changes per read. If a block has as many customers, it causes as many changes. */
const changesMax = 1000;
/** Maximum number of orders per transaction. A full transaction takes a tenth of a second. */
const ordersAtOnce = 200;
/**
 * How often the tips of index and payments are compared, in ms. Notifications may be lost, and the index gets a block
 * later than the payments.
 */
const pollMs = 500;
/**
 * How often the index's tip is read while it is behind, in ms. The index usually gets a block a tenth of a second after
 * the payments.
 */
const indexPollMs = 25;
/**
 * How long a round waits for the index, in ms. An index that is behind for longer has more than one block to process,
 * so shops are notified of payments meanwhile.
 */
const indexWaitMs = 500;
/** Maximum number of payments in one line of the log. */
const shownMax = 20;

/**
 * Credits payments of shop orders, and updates the orders from payments, blocks and time, until the signal is aborted.
 * Only one process per database does this. The process has no keys, and sends no requests to a node. All decisions come
 * from tables, so a process that is killed at any moment loses nothing.
 */
export async function followTokenOrders({
  url,
  policy,
  signal,
  log,
}: FollowTokenOrdersOptions): Promise<void> {
  const place = {
    url,
    applicationName: 'satscribe token payments',
    lock: 'tokenOrders',
    signal,
    log,
  } as const;
  await workUnderLock({ ...place, what: 'token payments' }, async (client) => {
    const waker = new Waker();
    await listenForPayments(client, () => waker.wake());
    const rounds = new TokenRounds({ client, policy, signal, log });
    const waiting = new IndexWait();
    while (!signal.aborted) {
      const tips = await tipsOf(client);
      if (waiting.isWorthIt(tips, performance.now())) {
        await waker.wait(indexPollMs, signal);
        continue;
      }
      if (await rounds.next(tips)) continue;
      await waker.wait(pollMs, signal);
    }
  });
}

/**
 * Decides whether to wait until the index has the last block of the payments. After the wait, one round credits the
 * payments. Without the wait, two rounds would be needed, which take twice as long.
 */
export class IndexWait {
  #apartSince: number | null = null;

  /** @param now time of a monotonic clock, in ms */
  isWorthIt({ index, payments }: Tips, now: number): boolean {
    this.#apartSince = index === payments ? null : (this.#apartSince ?? now);
    return this.#apartSince !== null && now - this.#apartSince < indexWaitMs;
  }
}

interface TokenRoundsParts extends Pick<FollowTokenOrdersOptions, 'policy' | 'signal' | 'log'> {
  readonly client: pg.ClientBase;
}

/** Examines changed orders, round by round. */
export class TokenRounds {
  readonly #parts: TokenRoundsParts;
  readonly #repeats = new Repeats();
  /** The last blocks of index and payments in the previous round, or null if no round has run yet. */
  #tips: string | null = null;
  /** Orders that failed. They are retried with the next block. */
  readonly #failed = new Set<string>();

  constructor(parts: TokenRoundsParts) {
    this.#parts = parts;
  }

  /**
   * Runs one round. Returns true if there may be more work at once.
   *
   * @param last last blocks of index and payments, read before the round
   */
  async next(last: Tips): Promise<boolean> {
    const { client, signal } = this.#parts;
    const now = new Date();
    const tips = `${last.index} ${last.payments}`;
    const after = await readTokenOffset(client);
    const changes = await readPaymentChanges(client, after, changesMax);
    const completeAt = (await readPaymentsOffset(client))?.completeAt ?? null;
    const due = await dueTokenOrders(client, completeAt, ordersAtOnce);
    const touched = new Set(
      changes.flatMap(({ watchers }) => watchers.flatMap((watcher) => orderOfTokenWatcher(watcher) ?? [])),
    );
    for (const id of due) if (!this.#failed.has(id)) touched.add(id);
    if (tips !== this.#tips) {
      for (const id of [...(await waitingTokenOrders(client)), ...this.#failed]) touched.add(id);
      this.#failed.clear();
    }
    const ids = [...touched].toSorted();
    for (let from = 0; from < ids.length; from += ordersAtOnce) {
      if (signal.aborted) return false;
      await this.#bringOn(ids.slice(from, from + ordersAtOnce), now);
    }
    const lastChange = changes.at(-1);
    if (lastChange !== undefined) await moveTokenOffset(client, lastChange.payment.change);
    this.#tips = tips;
    return changes.length === changesMax || (due.length === ordersAtOnce && this.#failed.size === 0);
  }

  /**
   * Updates orders together. If this fails, updates each order in a separate transaction, because a fault of one order
   * must not stop the others.
   */
  async #bringOn(ids: readonly string[], now: Date): Promise<void> {
    const { client, policy, log } = this.#parts;
    try {
      const takenBack = await withTransaction(client, (tx) => bringOn(tx, ids, policy, now));
      failpoint('token-orders-committed');
      if (takenBack.length > 0)
        log.warn(
          { count: takenBack.length, first: takenBack.slice(0, shownMax) },
          'a reorganisation took back payments that were already credited; satscribe tokenpay balances shows accounts below 0',
        );
    } catch (thrown) {
      const error = postgresFailure(thrown);
      // nothing can be done without the database
      if (error instanceof AppError && error.code.startsWith('postgres_')) throw error;
      const [only] = ids;
      if (ids.length > 1) {
        for (const id of ids) await this.#bringOn([id], now);
      } else if (only !== undefined) {
        this.#failed.add(only);
        // the offset still advances, so a process that starts later examines the order with its first block
        await keepWaiting(client, only);
        if (this.#repeats.isDue(`${only} ${String(error)}`))
          log.error(
            { err: error, order: only },
            'payments of an order of a shop could not be credited; the next block tries again',
          );
      }
    }
  }
}

/** Hashes of the last blocks of the index and of payments. A hash is null if there is no block. */
interface Tips {
  readonly index: string | null;
  readonly payments: string | null;
}

/** Reads the last blocks of the index and of payments. */
export async function tipsOf(client: pg.ClientBase): Promise<Tips> {
  const { rows } = await client.query<Tips>(
    `SELECT encode(${indexTipHash}, 'hex') AS index, encode(${paymentsTipHash}, 'hex') AS payments`,
  );
  return rows[0] ?? { index: null, payments: null };
}
