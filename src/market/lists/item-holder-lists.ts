import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { standingOf } from '#market/collections/collection-standing.store.ts';
import type { FoundCollection } from '#market/collections/market-slug.store.ts';
import { type ItemHolders, readItemHolders } from './item-holders.store.ts';

/**
 * Maximum number of bytes of all kept lists. This is enough for eight lists of the largest imports, or some thousand
 * usual lists.
 */
const keptBytesMax = 32_000_000;
/** Number of bytes of a list without its holders. */
const listBytes = 500;
/**
 * Maximum number of items of a collection that any request reads at once. Reading them takes some milliseconds. Reading
 * more is a walk.
 */
const smallItemsMax = 1_000;

/**
 * The holders after a block. The block's hash identifies the result, because another index with this block has the same
 * holders.
 */
export interface ProvenHolders {
  readonly height: Height;
  readonly hash: BlockHash;
  /** Whether the index has every block, up to this block, that can change the holders. */
  readonly isAnchored: boolean;
  readonly holders: ItemHolders;
}

/**
 * Result of a read. It is `walk` if the read needs a walk that was not allowed, and `no-block` if no block of this
 * height is indexed.
 */
export type HoldersRead = ProvenHolders | 'no-block' | 'walk';

/**
 * Lists of the holders of items of collections. Reading a list takes a walk over all items, so the list is kept for
 * other pages and for statistics. The key of a list contains its block, the revision of the import and the epoch of the
 * derived tables, so a kept list is never wrong (docs/adr/0048-reads-of-collections.md).
 */
export class ItemHolderLists {
  readonly #lists = new LRUCache<string, ItemHolders>({
    maxSize: keptBytesMax,
    sizeCalculation: ({ packed }) => listBytes + packed.length,
  });

  /**
   * Reads the holders of a collection's items after a block.
   *
   * @param mayWalk if false, only kept lists and small collections are read
   */
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
 * Number of items that a collection names, indexed or not. In a parent with a gallery, an inscription that is both a
 * child and a gallery item counts twice.
 */
export function listedItems(collection: FoundCollection): number {
  return collection.kind === 'import' ? collection.items : collection.children + collection.galleryItems;
}
