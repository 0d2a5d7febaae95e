import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { differingRows } from '#collections/selling/sold-rows.queries.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { snapshot } from '#orders/audit/at-one-block.ts';
import { auditCollections, mayBeMeant } from '#orders/audit/audit-collections.ts';
import { type ItemSale, textOfItem } from './item-sale.ts';
import { type HeldItems, type SaleSeen, saleFaults } from './items-verdict.ts';

const lookEveryMs = 500;

/** Checks the sales of a run all the time. Each check uses one snapshot. */
export class ItemWatch {
  /** Number of checks in which the database answered. */
  looks = 0;
  readonly #sales: readonly ItemSale[];
  readonly #open: () => pg.Pool;
  readonly #say: (words: string) => void;
  readonly #found = new Set<string>();
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  /**
   * @param open returns a pool of the database. The pool is ended after each check, because the database may be
   *   restarted
   * @param say receives each fault when it is found, and the present action of the run
   */
  constructor(sales: readonly ItemSale[], open: () => pg.Pool, say: (words: string) => void) {
    this.#sales = sales;
    this.#open = open;
    this.#say = say;
    this.#ended = this.#run();
  }

  /** Faults in words, without repetitions. */
  get faults(): readonly string[] {
    return [...this.#found];
  }

  /** Compares collections with their orders and ledger. This needs as many reads as an operator's audit. */
  async audit(): Promise<void> {
    await this.#read(async (pool) => (await auditFaults(pool)).map((fault) => `after a round: ${fault}`));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#read(async (pool) => {
        const faults = (await readSales(pool, this.#sales)).flatMap(saleFaults);
        this.looks++;
        return faults;
      });
      await delay(lookEveryMs);
    }
  }

  async #read(look: (pool: pg.Pool) => Promise<string[]>): Promise<void> {
    const pool = this.#open();
    try {
      for (const fault of await look(pool)) this.#add(fault);
    } catch (thrown) {
      const error = postgresFailure(thrown);
      const isAway = error instanceof AppError && error.code.startsWith('postgres_');
      if (!isAway) this.#add(`a look at the sales failed: ${String(thrown)}`);
    } finally {
      await pool.end();
    }
  }

  #add(fault: string): void {
    if (!this.#found.has(fault)) this.#say(fault);
    this.#found.add(fault);
  }
}

/** Differences of an audit of collections, in words. */
export async function auditFaults(database: pg.Pool): Promise<string[]> {
  return (await auditCollections({ database }))
    .filter((difference) => !mayBeMeant(difference))
    .map(({ collection, kind, where, noted, found }) => {
      return `audit of ${collection}: ${kind} ${where ?? ''}: ${noted} and ${found}`;
    });
}

/** All sales at the same moment. */
export const readSales = (pool: pg.Pool, sales: readonly ItemSale[]): Promise<SaleSeen[]> =>
  withTransaction(
    pool,
    async (tx) => {
      const seen: SaleSeen[] = [];
      for (const sale of sales) seen.push(await readSale(tx, sale));
      return seen;
    },
    snapshot,
  );

async function readSale(tx: pg.ClientBase, sale: ItemSale): Promise<SaleSeen> {
  const { id, items: supply, phases = [] } = sale;
  const { rows: held } = await tx.query<HeldItems>(
    `SELECT order_id AS "order", phase, standing = 'allowed' AS "isPaid", numbers FROM service.mint_orders
      WHERE collection = $1 AND standing IN ('making', 'unpaid', 'allowed')`,
    [id],
  );
  const { rows: given } = await tx.query<{ item: number; order: string }>(
    'SELECT item, order_id AS "order" FROM service.mint_items WHERE collection = $1 AND order_id IS NOT NULL',
    [id],
  );
  const texts = Array.from({ length: supply }, (_, place) => textOfItem(sale, place + 1));
  const { rows: inscribed } = await tx.query<{ item: number; times: number }>(
    `SELECT t.item::integer, count(*)::integer AS times
       FROM unnest($1::bytea[]) WITH ORDINALITY AS t(body, item)
       JOIN chain.contents AS c ON c.body = t.body JOIN chain.inscriptions AS i USING (content_id)
      GROUP BY t.item`,
    [texts.map((text) => Buffer.from(text))],
  );
  return {
    id,
    supply,
    roomOfPhases: new Map(
      phases.flatMap(({ phase, items }) => (items === undefined ? [] : [[phase, items] as const])),
    ),
    held,
    orderOfItem: new Map(given.map(({ item, order }) => [item, order])),
    inscribed: new Map(inscribed.map(({ item, times }) => [item, times])),
    counters: await differingRows(tx, id),
  };
}
