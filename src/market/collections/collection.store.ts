import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { soldListSlug } from '#market/imports/import-slug.ts';
import { type ItemTrait, insertTraits } from './collection-traits.store.ts';

/** An inscription of a collection. */
export interface CollectionItem {
  readonly id: InscriptionId;
  readonly name: string | null;
  /** Traits of the item, without duplicates. */
  readonly traits: readonly ItemTrait[];
}

/** The fields of a collection's `meta.json`. */
export interface CollectionMeta {
  readonly slug: string;
  /** The list's own slug, if `slug` had to be derived from it. Absent if the list's own slug is `slug`. */
  readonly listSlug?: string;
  readonly name: string;
  readonly description: string | null;
  readonly icon: InscriptionId | null;
  readonly website: string | null;
  readonly twitter: string | null;
  readonly discord: string | null;
}

export type ImportResult = 'added' | 'replaced' | 'unchanged';

/** Maximum number of rows of one statement. A list of 100,000 in one statement would be a message of 20 MB. */
const rowsEach = 10_000;

/** Result of an import, and the slug of the collection. */
export interface Replaced {
  readonly slug: string;
  readonly result: ImportResult;
}

/**
 * Stores a collection in place of the previous import of the same list. Does not write an unchanged collection. Throws
 * `collection_invalid` if other lists already use all 100 slugs to try. These are the list's own slug, and the same
 * slug with numbers after it.
 */
export async function replaceCollection(
  tx: pg.ClientBase,
  meta: CollectionMeta,
  items: readonly CollectionItem[],
  digest: Uint8Array,
): Promise<Replaced> {
  const { name, description, icon, website, twitter, discord } = meta;
  const listSlug = meta.listSlug ?? meta.slug;
  // the lock is held until the end of the transaction, so that two lists never take the same slug
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('market collections', 0))`);
  const before = await tx.query<{ slug: string; digest: Buffer }>(
    'SELECT slug, digest FROM service.market_collections WHERE coalesce(list_slug, slug) = $1',
    [listSlug],
  );
  const [same] = before.rows;
  const slug = same?.slug ?? (await freeSlug(tx, meta.slug));
  if (same?.digest.equals(digest) === true) return { slug, result: 'unchanged' };
  await tx.query('DELETE FROM service.market_collections WHERE slug = $1', [slug]);
  await tx.query(
    `INSERT INTO service.market_collections
       (slug, list_slug, name, description, icon_txid, icon_index, website, twitter, discord, items, digest)
     VALUES ($1, nullif($2, $1), $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      slug,
      listSlug,
      name,
      description,
      icon?.txid,
      icon?.index,
      website,
      twitter,
      discord,
      items.length,
      digest,
    ],
  );
  for (let first = 0; first < items.length; first += rowsEach)
    await insertItems(tx, slug, first, items.slice(first, first + rowsEach));
  await insertTraits(tx, slug, items);
  return { slug, result: same === undefined ? 'added' : 'replaced' };
}

/** Maximum number of slugs to try, starting with the list's own slug. */
const triedSlugs = 100;
const slugCharsMax = 100;

/** A slug that no other list has. It is the list's own slug, or the same slug with the next free number after it. */
async function freeSlug(tx: pg.ClientBase, wanted: string): Promise<string> {
  const tried = Array.from({ length: triedSlugs }, (_, nth) => {
    const number = nth === 0 ? '' : `-${nth + 1}`;
    return `${wanted.slice(0, slugCharsMax - number.length)}${number}`;
  });
  const { rows } = await tx.query<{ slug: string }>(
    'SELECT slug FROM service.market_collections WHERE slug = ANY($1)',
    [tried],
  );
  const taken = new Set(rows.map(({ slug }) => slug));
  const free = tried.find((slug) => !taken.has(slug));
  if (free !== undefined) return free;
  const message = `${triedSlugs} other lists have the slug ${wanted}, or this slug with a number after it. Remove one of these lists.`;
  throw new AppError('collection_invalid', message, { slug: wanted });
}

async function insertItems(
  tx: pg.ClientBase,
  slug: string,
  first: number,
  items: readonly CollectionItem[],
): Promise<void> {
  await tx.query(
    `INSERT INTO service.market_items (slug, place, txid, index, name)
     SELECT $1, $2 + given.nth - 1, given.txid, given.index, given.name
     FROM unnest($3::bytea[], $4::integer[], $5::text[]) WITH ORDINALITY AS given(txid, index, name, nth)`,
    [
      slug,
      first,
      items.map(({ id }) => id.txid),
      items.map(({ id }) => id.index),
      items.map(({ name }) => name),
    ],
  );
}

/** Number of items of a collection that are in the index. */
export async function countIndexedItems(db: pg.ClientBase | pg.Pool, slug: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM service.market_items m
     JOIN chain.inscriptions i ON i.txid = m.txid AND i.index = m.index
     WHERE m.slug = $1`,
    [slug],
  );
  return rows[0]?.count ?? 0;
}

export interface MarketCollection {
  readonly slug: string;
  readonly name: string;
  readonly description: string | null;
  readonly icon: InscriptionId | null;
  readonly website: string | null;
  readonly twitter: string | null;
  readonly discord: string | null;
  readonly items: number;
  readonly importedAt: Date;
}

/** A database row with `collectionColumns`. */
export interface CollectionRow extends Omit<MarketCollection, 'icon' | 'importedAt'> {
  readonly icon_txid: Buffer | null;
  readonly icon_index: number | null;
  readonly imported_at: Date;
}

export const collectionColumns =
  'slug, name, description, icon_txid, icon_index, website, twitter, discord, items, imported_at';

/** A page of the imported collections, sorted by slug. */
export async function listCollections(
  db: pg.ClientBase | pg.Pool,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<MarketCollection[]> {
  const { rows } = await db.query<CollectionRow>(
    `SELECT ${collectionColumns} FROM service.market_collections WHERE slug > $1
     ORDER BY slug LIMIT $2`,
    [after, limit],
  );
  return rows.map(collectionOf);
}

/** An imported collection. Returns null if the slug is unknown. */
export async function readCollection(
  db: pg.ClientBase | pg.Pool,
  slug: string,
): Promise<MarketCollection | null> {
  const { rows } = await db.query<CollectionRow>(
    `SELECT ${collectionColumns} FROM service.market_collections WHERE slug = $1`,
    [slug],
  );
  return rows[0] === undefined ? null : collectionOf(rows[0]);
}

/** Deletes an import. Throws `collection_unknown`, and `collection_sold` if this service sells the collection. */
export async function removeCollection(db: pg.ClientBase | pg.Pool, slug: string): Promise<void> {
  const { rowCount } = await db.query(
    'DELETE FROM service.market_collections WHERE slug = $1 AND list_slug IS DISTINCT FROM $2',
    [slug, soldListSlug(slug)],
  );
  if (rowCount !== 0) return;
  if ((await readCollection(db, slug)) === null) throw unknownCollection(slug);
  throw new AppError('collection_sold', `This service sells the collection ${slug}.`, { slug });
}

export const unknownCollection = (slug: string): AppError =>
  new AppError('collection_unknown', `No collection "${slug}" was imported.`, { slug });

export function collectionOf({
  icon_txid,
  icon_index,
  imported_at,
  ...row
}: CollectionRow): MarketCollection {
  const { slug, name, description, website, twitter, discord, items } = row;
  const icon =
    icon_txid === null || icon_index === null ? null : { txid: trustedTxid(icon_txid), index: icon_index };
  return { slug, name, description, icon, website, twitter, discord, items, importedAt: imported_at };
}
