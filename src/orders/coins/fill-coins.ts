import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { nextOrderIds } from '#orders/audit/audit.queries.ts';
import { bookFunds } from '#orders/funds/book-funds.ts';
import { endCoinsFill, moveCoinsFill, readCoinsFill } from '#purse/coins/coins-fill.store.ts';
import { keepBumpCoins, keepOrderCoins } from './keep-coins.ts';
import { orderCoins } from './order-coins.ts';
import { readPastOrders } from './past-orders.queries.ts';
import { countUnlisted } from './unlisted-orders.queries.ts';

/**
 * Lists the coins of a page of stored orders. Without this, coins of orders that are not processed again would never be
 * listed. Returns true once the coins of all orders are listed.
 */
async function fillPage(client: pg.ClientBase): Promise<boolean> {
  return withTransaction(client, async (tx) => {
    const { after, isComplete } = await readCoinsFill(tx);
    if (isComplete) return true;
    const ids = await nextOrderIds(tx, after);
    const last = ids.at(-1);
    if (last === undefined) {
      await bookFunds(tx);
      await endCoinsFill(tx);
      return true;
    }
    const orders = await readPastOrders(tx, ids);
    await keepOrderCoins(
      tx,
      orders.map(({ order, facts }) => ({ id: order.id, coins: orderCoins(order, facts) })),
    );
    await keepBumpCoins(tx, ids);
    await moveCoinsFill(tx, last, ids.length);
    return false;
  });
}

/** Minimum time between two log lines about the progress, in ms. */
const toldEveryMs = 10_000;

/**
 * Lists the coins of orders that an earlier version stored, one page of orders in each round. After a process was
 * killed, the next process resumes after the last page. Until all coins are listed, no coin may be spent for the
 * service's own costs.
 */
export class CoinsFilling {
  readonly #log: Logger;
  #isComplete = false;
  #toldAt: number | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Lists the next page. */
  async next(client: pg.ClientBase): Promise<void> {
    if (this.#isComplete) return;
    this.#isComplete = await fillPage(client);
    await this.#tell(client);
  }

  async #tell(client: pg.ClientBase): Promise<void> {
    const { orders } = await readCoinsFill(client);
    if (this.#isComplete) {
      if (this.#toldAt !== null)
        this.#log.info(
          { orders },
          'the coins of all orders are listed, and can pay for costs of the service again',
        );
      return;
    }
    const now = performance.now();
    if (this.#toldAt !== null && now - this.#toldAt < toldEveryMs) return;
    this.#toldAt = now;
    this.#log.info(
      { orders, left: await countUnlisted(client) },
      'coins of earlier orders are being listed; until all are listed, no coin pays for costs of the service',
    );
  }
}
