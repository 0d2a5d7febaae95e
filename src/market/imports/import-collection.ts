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
  /** The list's own slug, if the collection is stored under another slug. */
  readonly listSlug?: string;
  readonly name: string;
  /** `unchanged` if the same collection was imported before. */
  readonly result: 'added' | 'replaced' | 'unchanged';
  readonly items: number;
  readonly doubles: number;
  /** Number of items that are not indexed yet. These items become active when they are indexed. */
  readonly notIndexed: number;
  /** The first 100 optional fields that are wrong. Absent if no field is wrong. */
  readonly leftOut?: readonly Fault[];
  /** The number of all wrong optional fields. */
  readonly leftOutCount?: number;
}

/**
 * Imports a collection in place of the previous import of the same list. Imports everything or nothing; only optional
 * fields that are wrong are left out. Throws `collection_invalid` and `collection_unreadable`, with all refusals,
 * before anything is written.
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

/** Reads both files, and then throws all their refusals together. */
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
 * Digest of the stored data. Spaces and left-out fields of the files do not change the digest. The list of traits is
 * part of the digest even if an item has no traits, so a list that was stored without traits is stored again.
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
