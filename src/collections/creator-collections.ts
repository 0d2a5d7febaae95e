import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { insertCollection, type NewCollection } from './collection/insert-collection.store.ts';
import { type PhasesUpdate, type UpdatedPhases, updatePhases } from './collection/update-phases.ts';

/** Creates collections for creators, and changes their phases. */
export class CreatorCollections {
  readonly #pool: pg.Pool;

  /** @param pool connections of the database role that answers requests */
  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * Stores a collection, which then waits for the decision of an operator. Returns false if another collection has its
   * id. Throws `collection_undecided_max`.
   *
   * @param client the client name of a creator without a key; null if the creator has a key
   * @param onCreated called in the transaction that stores the collection
   */
  async create(
    collection: NewCollection,
    client: string | null,
    onCreated: (tx: pg.ClientBase, createdAt: Date) => Promise<void>,
  ): Promise<boolean> {
    return withTransaction(this.#pool, async (tx) => {
      const inserted = await insertCollection(tx, collection, client);
      if (inserted.kind === 'bounds') throw new AppError('collection_undecided_max', inserted.reason);
      if (inserted.kind === 'taken') return false;
      await onCreated(tx, inserted.createdAt);
      return true;
    });
  }

  /** Replaces the phases of a collection. */
  updatePhases(update: PhasesUpdate): Promise<UpdatedPhases> {
    return withTransaction(this.#pool, (tx) => updatePhases(tx, update));
  }
}
