import type { FastifyReply } from 'fastify';
import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { marketPath } from '#http/market/market-query.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { marketReads } from '#http/server/access/guard.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type FoundCollection, findMarketCollection } from '#market/collections/market-slug.store.ts';
import { type HoldersRead, listedItems, type ProvenHolders } from '#market/lists/item-holder-lists.ts';
import type { ItemHolders } from '#market/lists/item-holders.store.ts';
import type { LastSale } from '#market/sales/last-sales.store.ts';

/** Parts that all paths below `/marketplace/data/collections/<slug>` share. */

export const collectionConfig = { errors: 'market', guard: marketReads, isDear: true } as const;
export const collectionPath = Type.Object({ slug: marketPath.slug });
export const count = Type.Integer({ minimum: 0 });

export const momentParts = {
  height: Type.Integer({ description: 'the state after the block at this height' }),
  blockHash: Type.String(),
};

/** Numbers of items, by what happened to them: held, burned, lost and so on. */
export const itemsSchema = Type.Object({
  listed: Type.Integer({
    description:
      'items that the collection names; for a parent with a gallery, an item in both lists counts twice',
  }),
  indexed: Type.Integer({
    description: 'those that are revealed up to the block, which is the sum of the following',
  }),
  held: Type.Integer({ description: 'owned by a holder' }),
  burned: Type.Integer({ description: 'in an output that begins with OP_RETURN' }),
  lost: Type.Integer({ description: 'in the fee of a block that no miner claimed' }),
  unbound: Type.Integer({ description: 'on no sat' }),
  unknown: Type.Integer({
    description: 'moved by a block whose spent outputs are not indexed, so their place is unknown',
  }),
});

export const lastSaleParts = {
  price: Type.Integer({ minimum: 0, description: 'sats' }),
  txid: Type.String(),
  height: count,
  timestamp: Type.Integer({ description: 'time of the block in Unix seconds' }),
  wash: Type.Boolean(),
};

/** A collection, and the last block when it was read. */
export interface CollectionNow {
  readonly collection: FoundCollection;
  readonly tip: Tip;
}

/**
 * Finds the collection with a slug, and the last block. Throws `collection_unknown`. Throws `not_found` if there is no
 * block yet.
 */
export async function foundCollection(
  client: ClientBase,
  slug: string,
  tip: Tip | null,
): Promise<CollectionNow> {
  if (tip === null) throw new AppError('not_found', 'no block is indexed');
  const collection = await findMarketCollection(client, slug);
  if (collection !== null) return { collection, tip };
  const message = 'no collection has this slug';
  throw new AppError('collection_unknown', message, { parameter: 'slug', place: 'path' });
}

/**
 * The response of a path about a collection. Clients must not cache it, because imports can change it between two
 * blocks.
 *
 * @param answer returns null if it needs a full scan that is not allowed
 */
export function answerOfCollection<T>(
  reads: SaleReads,
  reply: FastifyReply,
  slug: string,
  answer: (client: ClientBase, now: CollectionNow, mayWalk: boolean) => Promise<T | null>,
): Promise<T> {
  reply.header('cache-control', 'no-store');
  return reads.run(askerOf(reply), async ({ client, tip }, mayWalk) => {
    const now = await foundCollection(client, slug, tip);
    reply.header('x-indexed-height', now.tip.height);
    const value = await answer(client, now, mayWalk);
    return value === null ? null : { value };
  });
}

/**
 * Returns the holders. Throws `not_found` if the block is not indexed, because it is below the first indexed block or
 * in a gap.
 */
export function provenAt(read: Exclude<HoldersRead, 'walk'>, height: Height): ProvenHolders {
  if (read !== 'no-block') return read;
  throw new AppError('not_found', `the block at height ${height} is not indexed`, { parameter: 'at' });
}

export const momentView = ({ height, hash }: ProvenHolders) => ({ height, blockHash: displayHash(hash) });

export function itemsView(
  collection: FoundCollection,
  { indexed, held, burned, lost, unbound, unknown }: ItemHolders,
): Type.Static<typeof itemsSchema> {
  return { listed: listedItems(collection), indexed, held, burned, lost, unbound, unknown };
}

export const saleView = ({ price, txid, height, time, isWash }: LastSale) => ({
  price,
  txid: displayHash(txid),
  height,
  timestamp: time,
  wash: isWash,
});
