import { strict as assert } from 'node:assert';
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
import { type Fault, ImportFaults } from './import-faults.ts';
import { type CollectionItems, readItems } from './read-items.ts';
import { readMeta } from './read-meta.ts';

export interface ImportOutcome {
  readonly slug: string;
  /** The slug that the list gives itself, if the collection is stored under another one. */
  readonly listSlug?: string;
  readonly name: string;
  /** `unchanged`: the same was imported before. */
  readonly result: 'added' | 'replaced' | 'unchanged';
  readonly items: number;
  readonly doubles: number;
  /** Items that are not indexed yet: they count once they are. */
  readonly notIndexed: number;
  /** Optional fields that are wrong, the first 100; absent: there is no such field. */
  readonly leftOut?: readonly Fault[];
  /** The number of all of them. */
  readonly leftOutCount?: number;
}

/**
 * Imports a collection and replaces the one that the same list gave before. All of it or nothing, except optional
 * fields that are wrong, which are left out. Throws `collection_invalid` and `collection_unreadable`, with all
 * refusals, before anything is written.
 */
export async function importCollection(
  pool: pg.Pool,
  source: CollectionSource,
  onItems: (items: number) => void = () => undefined,
): Promise<ImportOutcome> {
  const faults = new ImportFaults();
  const { meta, items, doubles } = await readFiles(source, onItems, faults);
  const digest = digestOf(meta, items);
  return withTransaction(pool, async (tx) => {
    const { slug, result } = await replaceCollection(tx, meta, items, digest);
    const indexed = await countIndexedItems(tx, slug);
    const listSlug = meta.listSlug ?? meta.slug;
    const { first: leftOut, count: leftOutCount } = faults.leftOut;
    return {
      slug,
      ...(listSlug === slug ? {} : { listSlug }),
      name: meta.name,
      result,
      items: items.length,
      doubles,
      notIndexed: items.length - indexed,
      ...(leftOutCount === 0 ? {} : { leftOut, leftOutCount }),
    };
  });
}

/** Reads both files, so that the refusals of both are thrown together. */
async function readFiles(
  source: CollectionSource,
  onItems: (items: number) => void,
  faults: ImportFaults,
): Promise<CollectionItems & { readonly meta: CollectionMeta }> {
  const ofFile = async <T>(read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      faults.add(error);
      return null;
    }
  };
  const meta = await ofFile(async () => readMeta(await source.meta(), source.folder, faults));
  const items = await ofFile(() => readItems(source.items(), onItems, faults));
  faults.throwRefusals();
  assert(meta !== null && items !== null, 'a file that cannot be read has a fault');
  return { meta, ...items };
}

/**
 * Digest of the stored data: spaces and left-out fields change nothing. The traits of an item are in it even if it has
 * none, so a list that was stored without them is stored again.
 */
function digestOf({ icon, ...meta }: CollectionMeta, items: readonly CollectionItem[]): Uint8Array {
  const hash = createHash('sha256');
  const shownIcon = icon === null ? null : formatInscriptionId(icon.txid, icon.index);
  hash.update(
    JSON.stringify([meta.name, meta.description, shownIcon, meta.website, meta.twitter, meta.discord]),
  );
  for (const { id, name, traits } of items) {
    const pairs = traits.map((trait) => [trait.name, trait.value]);
    hash.update(JSON.stringify([formatInscriptionId(id.txid, id.index), name, pairs]));
  }
  return hash.digest();
}
