import { strict as assert } from 'node:assert';
import type { Pool } from 'pg';
import { requireSales } from '#chain/sales/sale.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Operations } from '#http/server/operations.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type FoundCollection, findMarketCollection } from '#market/collections/market-slug.store.ts';
import { ItemHolderLists } from '#market/lists/item-holder-lists.ts';
import { ItemOrders } from '#market/lists/item-orders.ts';
import { RecentSales } from '#market/sales/recent-sales.ts';
import { SaleCoverages } from '#market/sales/sale-coverage.ts';
import { SaleLists } from '#market/sales/sale-lists.ts';
import type { SoldInBlock } from '#market/sales/sale-places.ts';

/**
 * Bounds of full scans. The first read of a collection scans all its sales and uses a connection for up to ten seconds.
 * Two of the ten connections may do so at the same time, each for a different client. A client that would wait longer
 * than one such scan is refused, and must try again.
 */
const gateBounds = { running: 2, each: 1, waiting: 20, waitMs: 10_000 };

const busy = (): AppError =>
  new AppError('sales_busy', 'too many lists of sales are being made; try again in a few seconds');

/** A collection, and the blocks with its sales, in chain order. */
export interface CollectionSales {
  readonly collection: FoundCollection;
  readonly blocks: readonly SoldInBlock[];
}

/**
 * Makes a response from the snapshot that the sales were read from. `sales` is null if no collection has the slug, or
 * if no block is indexed.
 */
export type AnswerOfSales<T> = (sales: CollectionSales | null, snapshot: Snapshot) => Promise<T>;

/** Reads the value of a response. Returns `null` if this needs a full scan that is not allowed. */
export type WalkedRead<T> = (snapshot: Snapshot, mayWalk: boolean) => Promise<{ readonly value: T } | null>;

/** Reads collections for all routes. The routes share data in memory (ADR 48) and the limits of full scans. */
export class SaleReads {
  readonly lists = new SaleLists();
  readonly holders = new ItemHolderLists();
  readonly orders = new ItemOrders();
  readonly recent = new RecentSales();
  readonly coverage = new SaleCoverages();
  readonly #pool: Pool;
  readonly #gate = new FairGate({ ...gateBounds, refusal: busy });

  constructor(pool: Pool, { metrics }: Pick<Operations, 'metrics'>) {
    this.#pool = pool;
    metrics.watchQueue('lists of sales', () => this.#gate.state);
  }

  /**
   * Makes the response, from data in memory if possible. Otherwise a full scan is allowed, within the limits of
   * `gateBounds`. Throws `sales_busy`.
   */
  async run<T>(asker: Asker, read: WalkedRead<T>): Promise<T> {
    const reading = (mayWalk: boolean) =>
      withSnapshot(this.#pool, (snapshot) => read(snapshot, mayWalk), asker.signal);
    const kept = await reading(false);
    if (kept !== null) return kept.value;
    const walked = await this.#gate.run(asker, () => reading(true));
    assert(walked !== null, 'a walk finds all');
    return walked.value;
  }

  /**
   * Reads the sales of a collection. Throws `sales_not_indexed`, `derived_table_behind` while the table of sales is
   * being filled, and `sales_busy`.
   */
  async read<T>(slug: string, asker: Asker, answer: AnswerOfSales<T>): Promise<T> {
    return this.run(asker, async (snapshot, mayWalk) => {
      const { client, tip } = snapshot;
      // check this before the slug, because without an index the sales of every collection are unknown
      await requireSales(client);
      const collection = await findMarketCollection(client, slug);
      if (collection === null || tip === null) return { value: await answer(null, snapshot) };
      const blocks = await this.lists.read(client, collection, tip, mayWalk);
      return blocks === null ? null : { value: await answer({ collection, blocks }, snapshot) };
    });
  }
}
