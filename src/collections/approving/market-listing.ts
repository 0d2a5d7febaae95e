import type pg from 'pg';
import type { Collection } from '#collections/collection/collection.store.ts';

/** The market, where an approved collection is listed. */
export interface MarketListing {
  /** Why the slug cannot be used for a sold collection, in words after "the slug"; null: it is free. */
  slugProblem(client: pg.Pool | pg.ClientBase, slug: string): Promise<string | null>;
  /** Lists it. False: another collection has its slug. */
  open(tx: pg.ClientBase, collection: Collection): Promise<boolean>;
}
