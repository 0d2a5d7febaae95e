import { strict as assert } from 'node:assert';
import type { Pool } from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Operations } from '#http/operations/operations.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { FairGate } from '#kernel/fair-gate.ts';
import { type FoundCollection, findMarketCollection } from '#market/collections/market-slug.store.ts';
import { SaleLists } from '#market/sales/sale-lists.ts';
import type { SoldInBlock } from '#market/sales/sale-places.ts';

/**
 * The first read of a collection walks over all its sales, which takes a connection up to ten seconds: two of the ten
 * connections, one for each client. Who waits longer than for one such walk asks again.
 */
const gateBounds = { running: 2, each: 1, waiting: 20, waitMs: 10_000 };

const busy = (): AppError =>
  new AppError('sales_busy', 'too many lists of sales are being made: try again in a few seconds');

/** A collection, and where its sales are, in the order of the chain. */
export interface CollectionSales {
  readonly collection: FoundCollection;
  readonly blocks: readonly SoldInBlock[];
}

/** Makes an answer in the moment of the sales. Null: the slug names no collection, or nothing is indexed. */
export type AnswerOfSales<T> = (sales: CollectionSales | null, snapshot: Snapshot) => Promise<T>;

/** Reads of the sales of collections by all routes: they share what is kept (ADR 48), and the places of walks. */
export class SaleReads {
  readonly #pool: Pool;
  readonly #lists = new SaleLists();
  readonly #gate = new FairGate({ ...gateBounds, refusal: busy });

  constructor(pool: Pool, { metrics }: Pick<Operations, 'metrics'>) {
    this.#pool = pool;
    metrics.watchQueue('lists of sales', () => this.#gate.state);
  }

  /** Throws `derived_table_behind` while sales are being filled, and `sales_busy`. */
  async read<T>(slug: string, asker: Asker, answer: AnswerOfSales<T>): Promise<T> {
    const kept = await this.#try(slug, asker, answer, false);
    if (kept !== null) return kept.value;
    const walked = await this.#gate.run(asker, () => this.#try(slug, asker, answer, true));
    assert(walked !== null, 'a walk finds all sales');
    return walked.value;
  }

  /** Null: it takes a walk, which it may not make. */
  #try<T>(
    slug: string,
    { signal }: Asker,
    answer: AnswerOfSales<T>,
    mayWalk: boolean,
  ): Promise<{ readonly value: T } | null> {
    const answered = async (snapshot: Snapshot): Promise<{ readonly value: T } | null> => {
      const { client, tip } = snapshot;
      const collection = await findMarketCollection(client, slug);
      if (collection === null || tip === null) return { value: await answer(null, snapshot) };
      const blocks = await this.#lists.read(client, collection, tip, mayWalk);
      return blocks === null ? null : { value: await answer({ collection, blocks }, snapshot) };
    };
    return withSnapshot(this.#pool, answered, signal);
  }
}
