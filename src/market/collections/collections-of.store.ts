import type { ClientBase } from 'pg';
import { requireNotBehind } from '#chain/derived/derived-tables.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { indexesOnly } from '#chain/snapshot/indexes-only.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { type InscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { galleryIndex } from '#market/sales/sale-context.store.ts';
import { chainCollections } from './market-slug.store.ts';

/** A collection that has an inscription. */
export interface CollectionOfItem {
  readonly kind: 'import' | 'parent' | 'gallery';
  readonly slug: string;
  readonly name: string;
}

/** Of each kind. Honest inscriptions are in a few; anybody can make a thousand galleries that name one. */
export const collectionsOfKindMax = 100;

/** Pages of galleries that are read for these: a gallery that names an inscription on every page counts once. */
const galleryPagesMax = 1_000;

/**
 * The collections that have an inscription, in the order in which one is chosen for its sales: imports by slug, parents
 * in the order of the envelope, galleries as they were revealed. Throws `index_missing` and `derived_table_behind`
 * while galleries are being indexed.
 */
export async function collectionsOf(client: ClientBase, id: InscriptionId): Promise<CollectionOfItem[]> {
  await requireIndexes(client, [galleryIndex], 'galleries');
  await requireNotBehind(client, 'properties');
  // with a limit, the planner may take a walk over all galleries for the faster way to the first ones
  await client.query(indexesOnly);
  const { rows: imports } = await client.query<{ slug: string; name: string }>(
    `SELECT m.slug, c.name FROM service.market_items m JOIN service.market_collections c USING (slug)
     WHERE m.txid = $1 AND m.index = $2 ORDER BY m.slug LIMIT ${collectionsOfKindMax}`,
    [Buffer.from(id.txid), id.index],
  );
  const parents = await parentsOf(client, id);
  const galleries = await galleriesOf(client, id);
  const found = await chainCollections(
    client,
    [...parents, ...galleries].map(({ id: of }) => of),
  );
  const named = new Map(found.map((collection) => [collection.key, collection]));
  const asItem =
    (kind: 'parent' | 'gallery') =>
    ({ key }: Owner): CollectionOfItem[] => {
      const { slug, name } = named.get(key) ?? {};
      return slug === undefined || name === undefined ? [] : [{ kind, slug, name }];
    };
  return [
    ...imports.map(({ slug, name }): CollectionOfItem => ({ kind: 'import', slug, name })),
    ...parents.flatMap(asItem('parent')),
    ...galleries.flatMap(asItem('gallery')),
  ];
}

/** A parent or gallery. */
interface Owner {
  readonly key: InscriptionKey;
  readonly id: InscriptionId;
}

interface OwnerRow {
  readonly key: InscriptionKey;
  readonly txid: Txid;
  readonly index: number;
}

const ownerOf = ({ key, txid, index }: OwnerRow): Owner => ({ key, id: { txid: trustedTxid(txid), index } });

async function parentsOf(client: ClientBase, { txid, index }: InscriptionId): Promise<Owner[]> {
  const { rows } = await client.query<OwnerRow>(
    `SELECT i.key, i.txid, i.index FROM chain.inscriptions c
     JOIN chain.parents r ON r.child_key = c.key JOIN chain.inscriptions i ON i.key = r.parent_key
     WHERE c.txid = $1 AND c.index = $2 ORDER BY r.position LIMIT ${collectionsOfKindMax}`,
    [Buffer.from(txid), index],
  );
  return rows.map(ownerOf);
}

async function galleriesOf(client: ClientBase, id: InscriptionId): Promise<Owner[]> {
  const { rows } = await client.query<OwnerRow>(
    `SELECT i.key, i.txid, i.index FROM (
       SELECT DISTINCT key FROM (
         -- without an order: one by key would be a walk along all galleries
         SELECT key FROM chain.gallery_pages
         WHERE chain.id_hashes(ids) @> chain.id_hashes($1) AND position($1 IN ids) > 0 LIMIT ${galleryPagesMax}
       ) AS pages ORDER BY key LIMIT ${collectionsOfKindMax}
     ) AS galleries JOIN chain.inscriptions i USING (key) ORDER BY i.key`,
    [Buffer.from(inscriptionIdBytes(id))],
  );
  return rows.map(ownerOf);
}
