import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import type { HoldBounds } from '#collections/selling/hold-bounds.ts';
import type { HeldItem, RefusedHold } from '#collections/selling/hold-request.ts';
import { giveUpHold, type ItemHolds } from '#collections/selling/holds.store.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { CustomerFiles } from '#orders/files/customer-files.ts';
import type { OrderedItem, OrderedItems } from './ordered-items.ts';
import type { CollectionOrder } from './read-collection-order.ts';

export interface HoldingParts {
  readonly pool: pg.Pool;
  readonly holds: ItemHolds;
  readonly files: Pick<CustomerFiles, 'get'>;
}

/** The client that holds items, and the limits of its unpaid items. */
interface Holder {
  readonly client: string;
  readonly bounds: HoldBounds;
  /** Aborted once the client disconnects. */
  readonly signal: AbortSignal;
}

/**
 * The holder of the items of a request. A key belongs to a shop that orders for all its customers. The key has only the
 * limit that the operator gave it, or no limit. All unpaid orders together may hold at most half of the remaining
 * items.
 *
 * @param bounds limits of client addresses and networks without a key
 */
export function holderOf(
  { client, key, signal }: Pick<Asker, 'client' | 'key' | 'signal'>,
  bounds: HoldBounds,
): Holder {
  if (key.kind === 'none' || !key.scopes.includes('orders')) return { client, bounds, signal };
  const most = key.terms.reservedMax ?? collectionBounds.items;
  // no client address starts with `key(`, so keys and addresses never get mixed up
  return { client: `key(${key.id})`, bounds: { client: most, network: most }, signal };
}

/**
 * Holds items for an order that is being created, and reads their bytes. If the order is not created, the caller must
 * release the items. If approved bytes are missing on the disk, throws `file_unusable` and holds nothing.
 */
export async function holdForOrder(
  { pool, holds, files }: HoldingParts,
  { collection, items, script }: Pick<CollectionOrder, 'collection' | 'items' | 'script'>,
  { client, bounds, signal }: Holder,
): Promise<OrderedItems | RefusedHold> {
  const orderId = randomUUID();
  const held = await holds.ask(
    { orderId, collection, items, script, client, bounds, now: new Date() },
    signal,
  );
  if (held.kind !== 'held') return held;
  failpoint('items-held');
  try {
    const { price, creatorAddress, runePrice, cheaper } = held;
    return {
      orderId,
      collection,
      isRequested: items.kind === 'named',
      price,
      creatorAddress,
      runePrice,
      cheaper,
      items: await withContents(files, held.items),
    };
  } catch (error) {
    await giveUpHold(pool, orderId);
    throw error;
  }
}

/** Maximum number of files that are read at the same time. An order has up to a thousand files. */
const readsAtOnce = 8;

/** Items with their bytes. Items of an edition share the bytes. */
async function withContents(
  files: Pick<CustomerFiles, 'get'>,
  items: readonly HeldItem[],
): Promise<OrderedItem[]> {
  const byHash = new Map(items.map((item) => [item.sha256.toString('hex'), item]));
  const contents = new Map(
    await inLanes([...byHash], readsAtOnce, async ([hex, { item, name, sha256 }]) => {
      const content = await files.get(sha256);
      if (content === null)
        throw new AppError('file_unusable', `The file ${name} of item ${item} is missing on the disk.`);
      return [hex, content] as const;
    }),
  );
  return items.map((item) => ({ ...item, content: contents.get(item.sha256.toString('hex')) ?? null }));
}
