import type pg from 'pg';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { placeOf } from '#orders/customers/tell-customer.ts';
import { type Order, readOrderFiles } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { revealsOfOrder } from '#purse/transactions/own-transactions.queries.ts';

/** The market's list of sold items of a collection. */
export interface MarketItems {
  add(
    tx: pg.ClientBase,
    collection: string,
    items: readonly { readonly id: InscriptionId; readonly name: string }[],
  ): Promise<void>;
  remove(tx: pg.ClientBase, collection: string, ids: readonly InscriptionId[]): Promise<void>;
}

/**
 * Adds the delivered items of an order to the market's list. Refunded items are left out, because they have no reveal.
 */
export async function listDelivered(
  tx: pg.ClientBase,
  market: MarketItems,
  { id, request }: Pick<Order, 'id' | 'request'>,
  reveals: readonly OrderTransaction[],
): Promise<void> {
  if (request.collection === undefined) return;
  const files = await readOrderFiles(tx, id);
  const items = files.flatMap(({ index, shown }) => {
    const inscription = parseInscriptionId(placeOf(index, reveals)?.inscription ?? '');
    return inscription === null ? [] : [{ id: inscription, name: String(shown['name']) }];
  });
  await market.add(tx, request.collection.id, items);
}

/**
 * Removes an order's items from the market's list after a reorganisation removed the delivery. Covers all reveals that
 * the order ever had.
 */
export async function unlistDelivered(
  tx: pg.ClientBase,
  market: MarketItems,
  { id, request }: Pick<Order, 'id' | 'request'>,
): Promise<void> {
  if (request.collection === undefined) return;
  const reveals = await revealsOfOrder(tx, id);
  const ids = reveals.flatMap((txid) =>
    Array.from({ length: request.count }, (_, index): InscriptionId => ({ txid, index })),
  );
  await market.remove(tx, request.collection.id, ids);
}
