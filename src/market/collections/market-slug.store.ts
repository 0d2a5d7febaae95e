import type { ClientBase } from 'pg';
import {
  childrenOfParent,
  isChild,
  isGalleryItem,
  itemsOfGallery,
  type ParentOrGallery,
  parentsAndGalleries,
} from '#chain/inscriptions/parents-and-galleries.queries.ts';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import {
  formatInscriptionId,
  type InscriptionId,
  parseInscriptionId,
} from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { type MarketCollection, readCollection } from './collection.store.ts';
import { shownName } from './collection-texts.ts';

/** The collection that a slug of the market names (docs/marketplace-api.md). */
export type FoundCollection = ImportedCollection | ChainCollection;

interface Named {
  /** The slug for responses. The slug of an inscription is its id in lower case. */
  readonly slug: string;
  readonly name: string;
  readonly icon: InscriptionId | null;
}

/** A collection that an operator imported. */
export interface ImportedCollection extends Named {
  readonly kind: 'import';
  readonly items: number;
  readonly description: string | null;
  readonly website: string | null;
  readonly twitter: string | null;
  readonly discord: string | null;
}

/**
 * An inscription with children, a gallery, or both. If it has both, children and gallery items are members, and the
 * inscription is shown as a parent.
 */
export interface ChainCollection extends Named {
  readonly kind: 'parent' | 'gallery';
  readonly key: InscriptionKey;
  readonly children: number;
  /** Number of items of the gallery. If a gallery names the same inscription twice, the inscription counts twice. */
  readonly galleryItems: number;
}

/** The collection of a slug. Returns null if the slug is unknown. */
export async function findMarketCollection(
  client: ClientBase,
  slug: string,
): Promise<FoundCollection | null> {
  const id = parseInscriptionId(slug);
  return id === null ? findImport(client, slug) : ((await chainCollections(client, [id]))[0] ?? null);
}

/**
 * The form of the slugs of imports. Texts of another form are not looked up, because Postgres would refuse a NUL
 * character.
 */
const importSlug = /^[a-z0-9][a-z0-9_-]{0,99}$/u;

async function findImport(client: ClientBase, slug: string): Promise<ImportedCollection | null> {
  const found = importSlug.test(slug) ? await readCollection(client, slug) : null;
  return found === null ? null : importedOf(found);
}

export function importedOf(found: MarketCollection): ImportedCollection {
  const { slug, name, icon, items, description, website, twitter, discord } = found;
  return { kind: 'import', slug, name, icon, items, description, website, twitter, discord };
}

/**
 * The collections of these inscriptions, in the order of the ids. Inscriptions without children and without a gallery
 * are skipped.
 */
export async function chainCollections(
  client: ClientBase,
  ids: readonly InscriptionId[],
): Promise<ChainCollection[]> {
  return (await parentsAndGalleries(client, ids)).map(chainCollectionOf);
}

function chainCollectionOf(found: ParentOrGallery): ChainCollection {
  const { key, id, number, children, galleryItems, attributes } = found;
  return {
    kind: children > 0 ? 'parent' : 'gallery',
    slug: formatInscriptionId(id.txid, id.index),
    name: titleOf(attributes) ?? inscriptionName(number, id),
    icon: id,
    key,
    children,
    galleryItems,
  };
}

/** The title that an inscription gives itself. Returns null if it has no title, or lists cannot show the title. */
function titleOf(attributes: Buffer | null): string | null {
  if (attributes === null) return null;
  // our own parser wrote this value, so it is always JSON
  const { title } = JSON.parse(attributes.toString()) as { readonly title?: unknown };
  return shownName(title);
}

/** The name of an inscription that has no name from a collection. */
export const inscriptionName = (number: number | null, { txid, index }: InscriptionId): string =>
  `Inscription ${number ?? formatInscriptionId(txid, index)}`;

/** A query of the members of a collection, and its parameter $1. */
export interface Members {
  /**
   * SQL with the columns `key`, `place` and `name`. Each key occurs once. `place` counts from 0. `place` is null if the
   * collection has no order of its own.
   */
  readonly sql: string;
  readonly of: string | InscriptionKey;
}

const importMembers = `SELECT i.key, m.place, m.name FROM service.market_items m
  JOIN chain.inscriptions i ON i.txid = m.txid AND i.index = m.index WHERE m.slug = $1`;

const unplaced = (keys: string): string =>
  `SELECT key, NULL::integer AS place, NULL::text AS name FROM (${keys}) AS found`;

/** The indexed members of a collection. */
export function membersOf(collection: FoundCollection): Members {
  if (collection.kind === 'import') return { sql: importMembers, of: collection.slug };
  const { key, children: childCount, galleryItems: itemCount } = collection;
  // an inscription names a parent only once, so a list with only children has no duplicate keys to remove
  if (itemCount === 0) return { sql: unplaced(childrenOfParent), of: key };
  if (childCount === 0)
    return { sql: unplaced(`SELECT DISTINCT key FROM (${itemsOfGallery}) AS items`), of: key };
  return { sql: unplaced(`${childrenOfParent} UNION ${itemsOfGallery}`), of: key };
}

/** A condition on an inscription, and its parameter $1. */
export interface MemberTest {
  readonly sql: string;
  readonly of: string | InscriptionKey;
}

/**
 * SQL: whether a collection has an inscription. `txid` and `index` are SQL expressions. Use it for a few rows among
 * many, because each row needs an index look-up. `OFFSET 0` keeps the planner from making this condition a join. A join
 * would first read all members, which takes half a second for 100,000 members.
 */
export function memberTest(collection: FoundCollection, txid: string, index: string): MemberTest {
  if (collection.kind === 'import') {
    const sql = `EXISTS (SELECT FROM service.market_items
      WHERE market_items.slug = $1 AND market_items.txid = ${txid} AND market_items.index = ${index} OFFSET 0)`;
    return { sql, of: collection.slug };
  }
  const { key, children: childCount, galleryItems: itemCount } = collection;
  const tests = [
    ...(childCount > 0 ? [isChild(txid, index)] : []),
    ...(itemCount > 0 ? [isGalleryItem(txid, index)] : []),
  ];
  return { sql: `(${tests.join(' OR ')})`, of: key };
}

/**
 * Maximum number of gallery items that any request may read. A read of a longer gallery is a walk. All items of the
 * gallery must be read for each page of items, and for the sales of each block. Reading 10,000 items takes 50 ms.
 */
const galleryItemsMax = 1_000;

/** Whether a gallery is so long that each read of its members is a walk, even a read of one page. */
export const isLongGallery = (collection: FoundCollection): boolean =>
  collection.kind !== 'import' && collection.galleryItems > galleryItemsMax;

/** A member of a collection, with the values that lists show. */
export interface Member {
  readonly id: InscriptionId;
  readonly number: number | null;
  readonly name: string;
}

interface MemberNames {
  readonly txid: Txid;
  readonly index: number;
  readonly number: number | null;
  readonly place: number | null;
  readonly name: string | null;
}

/**
 * A member with its name. The name comes from the item if the item has a name. If not, it is the collection's name with
 * the item's position. If there is no position either, it is the number of the inscription.
 */
export function memberOf(
  collection: FoundCollection,
  { txid, index, number, place, name }: MemberNames,
): Member {
  const id = { txid: trustedTxid(txid), index };
  const placed = place === null ? null : `${collection.name} #${place + 1}`;
  return { id, number, name: name ?? placed ?? inscriptionName(number, id) };
}
