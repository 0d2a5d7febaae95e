import { createHash } from 'node:crypto';
import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import {
  type CollectionItem,
  type CollectionMeta,
  countIndexedItems,
  replaceCollection,
} from '#market/collections/collection.store.ts';
import type { CollectionSource } from './collection-source.ts';
import { readItems } from './read-items.ts';
import { readMeta } from './read-meta.ts';

export interface ImportOutcome {
  readonly slug: string;
  readonly name: string;
  /** `unchanged`: the same was imported before. */
  readonly result: 'added' | 'replaced' | 'unchanged';
  readonly items: number;
  readonly doubles: number;
  /** Items that are not indexed yet: they count once they are. */
  readonly notIndexed: number;
}

/**
 * Imports a collection in the place of the one with its slug, all of it or nothing. Throws `collection_invalid` and
 * `collection_unreadable` before anything is written.
 */
export async function importCollection(
  pool: pg.Pool,
  source: CollectionSource,
  onItems: (items: number) => void = () => undefined,
): Promise<ImportOutcome> {
  const meta = readMeta(await source.meta(), source.folder);
  const { items, doubles } = await readItems(source.items(), onItems);
  const digest = digestOf(meta, items);
  return withTransaction(pool, async (tx) => {
    const result = await replaceCollection(tx, meta, items, digest);
    const indexed = await countIndexedItems(tx, meta.slug);
    const { slug, name } = meta;
    return { slug, name, result, items: items.length, doubles, notIndexed: items.length - indexed };
  });
}

/** Of what is stored: spaces and fields that are left out change nothing. */
function digestOf({ icon, ...meta }: CollectionMeta, items: readonly CollectionItem[]): Uint8Array {
  const hash = createHash('sha256');
  const shownIcon = icon === null ? null : formatInscriptionId(icon.txid, icon.index);
  hash.update(
    JSON.stringify([meta.name, meta.description, shownIcon, meta.website, meta.twitter, meta.discord]),
  );
  for (const { id, name } of items)
    hash.update(JSON.stringify([formatInscriptionId(id.txid, id.index), name]));
  return hash.digest();
}
