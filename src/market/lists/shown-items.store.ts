import type { ClientBase } from 'pg';
import { galleryIndex } from '#chain/inscriptions/parents-and-galleries.queries.ts';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { chainCollections, inscriptionName } from '#market/collections/market-slug.store.ts';
import { slugsOf } from '#market/sales/sale-context.store.ts';

/** An inscription in lists of the whole market. */
export interface ShownItem {
  readonly id: InscriptionId;
  /** Number of the inscription. Null if the inscription has no number, or is unknown. */
  readonly number: number | null;
  /** The name that the import gives the item, else its number. */
  readonly name: string;
  /**
   * The collection with which sales of the inscription are shown. Null if the inscription has no collection, or if
   * galleries are still being indexed.
   */
  readonly collection: { readonly slug: string; readonly name: string } | null;
}

interface NamedItem {
  readonly number: number | null;
  /**
   * The name of the import. The next two fields are the item's index and name in that import. Null if the item is not
   * in an import.
   */
  readonly collection: string | null;
  readonly place: number | null;
  readonly name: string | null;
}

/** The inscriptions with these ids, in the order of the ids. Takes a few statements, however many ids there are. */
export async function shownItems(client: ClientBase, ids: readonly InscriptionId[]): Promise<ShownItem[]> {
  if (ids.length === 0) return [];
  const slugs = (await builtIndexes(client, [galleryIndex])).has(galleryIndex)
    ? await slugsOf(client, ids)
    : ids.map(() => null);
  const parents = [...new Set(slugs)].flatMap((slug) => parseInscriptionId(slug ?? '') ?? []);
  const found = await chainCollections(client, parents);
  const collections = new Map(found.map(({ slug, name }) => [slug, name]));
  const named = await namedItems(client, ids, slugs);
  return ids.flatMap((id, nth) => {
    const row = named[nth];
    return row === undefined ? [] : [shownItem(id, slugs[nth] ?? null, row, collections)];
  });
}

function shownItem(
  id: InscriptionId,
  slug: string | null,
  { number, collection, place, name }: NamedItem,
  collections: ReadonlyMap<string, string>,
): ShownItem {
  const collectionName = collection ?? collections.get(slug ?? '');
  const placed = collection === null || place === null ? null : `${collection} #${place + 1}`;
  return {
    id,
    number,
    name: name ?? placed ?? inscriptionName(number, id),
    collection: slug === null || collectionName === undefined ? null : { slug, name: collectionName },
  };
}

/** Numbers, and names in imports, in the order of the ids. */
async function namedItems(
  client: ClientBase,
  ids: readonly InscriptionId[],
  slugs: readonly (string | null)[],
): Promise<NamedItem[]> {
  const { rows } = await client.query<NamedItem>(
    `SELECT i.number, c.name AS collection, m.place, m.name
     FROM unnest($1::bytea[], $2::integer[], $3::text[]) WITH ORDINALITY AS given(txid, index, slug, nth)
     LEFT JOIN chain.inscriptions i ON i.txid = given.txid AND i.index = given.index
     LEFT JOIN service.market_items m ON m.txid = given.txid AND m.index = given.index AND m.slug = given.slug
     LEFT JOIN service.market_collections c ON c.slug = m.slug
     ORDER BY given.nth`,
    [ids.map(({ txid }) => Buffer.from(txid)), ids.map(({ index }) => index), slugs],
  );
  return rows;
}
