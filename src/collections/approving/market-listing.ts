import type pg from 'pg';
import type { Collection } from '#collections/collection/collection.store.ts';

/** The market, which lists approved collections. */
export interface MarketListing {
  /**
   * Why the slug cannot be used for a sold collection, worded to follow "the slug". Returns null if the slug is free.
   */
  slugProblem(client: pg.Pool | pg.ClientBase, slug: string): Promise<string | null>;
  /** Lists the collection. Returns false if another collection has its slug. */
  open(tx: pg.ClientBase, collection: Collection): Promise<boolean>;
}
