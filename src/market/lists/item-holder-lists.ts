import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { standingOf } from '#market/collections/collection-standing.store.ts';
import type { FoundCollection } from '#market/collections/market-slug.store.ts';
import { type ItemHolders, readItemHolders } from './item-holders.store.ts';

/** Bytes of all lists: eight of the largest imports, or some thousand usual ones. */
const keptBytesMax = 32_000_000;
/** Bytes of a list besides its holders. */
const listBytes = 500;
/** Items of a collection that any request reads at once: some milliseconds. More is a walk. */
const smallItemsMax = 1_000;

/** The holders after a block, which proves them: another index with this block has the same. */
export interface ProvenHolders {
  readonly height: Height;
  readonly hash: BlockHash;
  /** Every block up to here that can matter is indexed. */
  readonly isAnchored: boolean;
  readonly holders: ItemHolders;
}

/** Result of a read. `walk`: it needs a walk, which was not allowed. */
export type HoldersRead = ProvenHolders | 'no-block' | 'walk';

/**
 * The holders of items of collections. A walk over all items finds them, so the result is kept for other pages and for
 * statistics. The key of a list is its block, the import and the derived tables, so it is never wrong
 * (docs/adr/0048-reads-of-collections.md).
 */
export class ItemHolderLists {
  readonly #lists = new LRUCache<string, ItemHolders>({
    maxSize: keptBytesMax,
    sizeCalculation: ({ packed }) => listBytes + packed.length,
  });

  /** @param mayWalk false: only kept lists, and small collections */
  async read(
    client: ClientBase,
    collection: FoundCollection,
    height: Height,
    mayWalk: boolean,
  ): Promise<HoldersRead> {
    const block = await blockAt(client, { kind: 'height', height });
    if (block === null) return 'no-block';
    const { hash, anchored: isAnchored, firstKey, inscriptionCount } = block;
    const { revision, epoch } = await standingOf(client, collection.slug, height);
    const name = `${Buffer.from(hash).toString('hex')} ${firstKey} ${epoch} ${revision ?? ''} ${collection.slug}`;
    const kept = this.#lists.get(name);
    if (kept === undefined && !mayWalk && listedItems(collection) > smallItemsMax) return 'walk';
    const moment = { height, nextKey: firstKey + inscriptionCount };
    const holders = kept ?? (await readItemHolders(client, collection, moment));
    if (kept === undefined) this.#lists.set(name, holders);
    return { height, hash, isAnchored, holders };
  }
}

/**
 * Number of items that a collection names, indexed or not. In a parent with a gallery, inscriptions that are both count
 * twice.
 */
export function listedItems(collection: FoundCollection): number {
  return collection.kind === 'import' ? collection.items : collection.children + collection.galleryItems;
}
