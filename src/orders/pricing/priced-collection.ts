import type pg from 'pg';
import { pricedItems } from '#collections/selling/priced-items.queries.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, faulty, isGiven } from '#kernel/requests/request-values.ts';
import { askedRune } from '#orders/collections/asked-rune.ts';
import type { QuotedItems } from '#orders/collections/ordered-items.ts';
import { readCollectionOrder } from '#orders/collections/read-collection-order.ts';
import type { PriceBody } from '#orders/reading/read-price.ts';
import type { AskedRune } from '#tokenpay/inscribing/ask-for-rune.ts';

/**
 * The items of a collection that a price names. Null if the price names no items. Throws `not_found` and `not_offered`.
 */
export async function itemsOfPrice(
  { pool, network }: { readonly pool: pg.Pool; readonly network: NetworkParameters },
  { type, order }: PriceBody,
  { signal }: Asker,
): Promise<PricedItemsInRune | Faulty | null> {
  if (typeof order !== 'object' || order === null || !('collection' in order)) return null;
  if (!isGiven(order.collection)) return null;
  if (type === 'direct')
    return faulty('type', 'type must be bulk, because the service inscribes the items of a collection.');
  const wanted = readCollectionOrder(order, network, 'price');
  if (wanted.kind === 'faulty') return wanted;
  const { collection, items, script, isKnown } = wanted;
  const found = await withCutConnection(pool, signal, (client) =>
    pricedItems(client, { collection, items, script: isKnown ? script : null, now: new Date() }),
  );
  if (found.kind === 'unknown') throw new AppError('not_found', found.reason);
  if (found.kind === 'runes') throw new AppError('not_offered', found.reason);
  if (found.kind !== 'priced') return faulty('order.collection', found.reason);
  const rune = await askedRune(pool, { collection, ...found }, signal);
  if (rune.kind === 'faulty') return rune;
  return {
    isRequested: items.kind === 'named',
    price: found.price,
    runePrice: found.runePrice,
    rune: rune.asked,
    items: found.items.map((item) => ({ ...item, content: null })),
  };
}

interface PricedItemsInRune extends QuotedItems {
  /** A rune that is paid in addition to the sats. Null if only sats are paid. */
  readonly rune: AskedRune | null;
}

/** The rune that an order of these items must also pay. Null if only sats are paid. Pure. */
export const runeOf = (items: PricedItemsInRune | null): AskedRune | null => items?.rune ?? null;

/** Number of items that are drawn only when the order is created. Pure. */
export const drawnOf = (items: QuotedItems | null): number =>
  items === null || items.isRequested ? 0 : items.items.length;
