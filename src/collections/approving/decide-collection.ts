import type pg from 'pg';
import { type Collection, lockCollection } from '#collections/collection/collection.store.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { requirePending, unknownMint } from './approval-errors.ts';

/** Refuses a pending collection. Its files may then be deleted. Throws `mint_unknown` and `mint_decided`. */
export function refuseCollection(pool: pg.Pool, id: string, reason: string): Promise<void> {
  return withTransaction(pool, (tx) => refuseCollectionIn(tx, id, reason));
}

/** Does the work of `refuseCollection` in a transaction of the caller. */
export function refuseCollectionIn(tx: pg.ClientBase, id: string, reason: string): Promise<void> {
  return decide(tx, id, 'refused', reason, requirePending);
}

/**
 * Ends the sale of an approved collection. Sold items stay sold, and unpaid orders keep their items until these orders
 * expire. Throws `mint_unknown` and `mint_decided`.
 */
export function closeCollection(pool: pg.Pool, id: string, reason: string): Promise<void> {
  return withTransaction(pool, (tx) => closeCollectionIn(tx, id, reason));
}

/** Does the work of `closeCollection` in a transaction of the caller. */
export function closeCollectionIn(tx: pg.ClientBase, id: string, reason: string): Promise<void> {
  return decide(tx, id, 'closed', reason, requireOnSale);
}

/** Throws `mint_decided` for a collection that is not on sale. */
export function requireOnSale({ id, state }: Pick<Collection, 'id' | 'state'>): void {
  if (state === 'approved') return;
  const message = `The collection ${id} is ${state}, but only an approved collection can be closed.`;
  throw new AppError('mint_decided', message, { id, state });
}

async function decide(
  tx: pg.ClientBase,
  id: string,
  state: 'refused' | 'closed',
  reason: string,
  check: (collection: Collection) => void,
): Promise<void> {
  const collection = await lockCollection(tx, id);
  if (collection === null) throw unknownMint(id);
  check(collection);
  await tx.query(
    `UPDATE service.mint_collections
        SET state = $2, reason = $3, client = NULL, decided_at = coalesce(decided_at, now()) WHERE id = $1`,
    [id, state, reason],
  );
}
