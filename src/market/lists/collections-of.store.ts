import type { ClientBase } from 'pg';
import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import {
  firstParents,
  galleriesWith,
  galleryIndex,
  type KeyedInscription,
} from '#chain/inscriptions/parents-and-galleries.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { indexesOnly } from '#chain/snapshot/indexes-only.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { chainCollections } from '#market/collections/market-slug.store.ts';

/** A collection that has an inscription. */
export interface CollectionOfItem {
  readonly kind: 'import' | 'parent' | 'gallery';
  readonly slug: string;
  readonly name: string;
}

/**
 * Maximum number of collections of each kind. Honest inscriptions are in a few collections, but anyone can make a
 * thousand galleries that name an inscription.
 */
export const collectionsOfKindMax = 100;

/**
 * The collections that have an inscription: imports by slug, parents in the order of the envelope, galleries in the
 * order of their reveals. Sales of the inscription are shown with the first collection in this order. Throws
 * `index_missing` and `derived_table_behind` while galleries are being indexed.
 */
export async function collectionsOf(client: ClientBase, id: InscriptionId): Promise<CollectionOfItem[]> {
  await requireIndexes(client, [galleryIndex], 'galleries');
  await requireNotBehind(client, 'properties');
  // because of the limit, the planner might estimate that a walk over all galleries is faster
  await client.query(indexesOnly);
  const { rows: imports } = await client.query<{ slug: string; name: string }>(
    `SELECT m.slug, c.name FROM service.market_items m JOIN service.market_collections c USING (slug)
     WHERE m.txid = $1 AND m.index = $2 ORDER BY m.slug LIMIT ${collectionsOfKindMax}`,
    [Buffer.from(id.txid), id.index],
  );
  const parents = await firstParents(client, id, collectionsOfKindMax);
  const galleries = await galleriesWith(client, id, collectionsOfKindMax);
  const found = await chainCollections(
    client,
    [...parents, ...galleries].map(({ id: of }) => of),
  );
  const named = new Map(found.map((collection) => [collection.key, collection]));
  const asItem =
    (kind: 'parent' | 'gallery') =>
    ({ key }: KeyedInscription): CollectionOfItem[] => {
      const { slug, name } = named.get(key) ?? {};
      return slug === undefined || name === undefined ? [] : [{ kind, slug, name }];
    };
  return [
    ...imports.map(({ slug, name }): CollectionOfItem => ({ kind: 'import', slug, name })),
    ...parents.flatMap(asItem('parent')),
    ...galleries.flatMap(asItem('gallery')),
  ];
}
