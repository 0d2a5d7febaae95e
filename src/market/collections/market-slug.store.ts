import type { ClientBase } from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import {
  formatInscriptionId,
  type InscriptionId,
  parseInscriptionId,
} from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { shownName } from '#market/imports/collection-texts.ts';
import { type MarketCollection, readCollection } from './collection.store.ts';

/** What a slug of the market names (docs/marketplace-api.md). */
export type FoundCollection = ImportedCollection | ChainCollection;

interface Named {
  /** As answers show it: that of an inscription in lower case. */
  readonly slug: string;
  readonly name: string;
  readonly icon: InscriptionId | null;
}

/** An operator imported it. */
export interface ImportedCollection extends Named {
  readonly kind: 'import';
  readonly items: number;
  readonly description: string | null;
  readonly website: string | null;
  readonly twitter: string | null;
  readonly discord: string | null;
}

/**
 * An inscription with children, a gallery, or both. Where it is both, children and items are members, and it is shown
 * as a parent.
 */
export interface ChainCollection extends Named {
  readonly kind: 'parent' | 'gallery';
  readonly key: InscriptionKey;
  readonly children: number;
  /** Of the gallery; the same one may be named twice. */
  readonly galleryItems: number;
}

/** Longer attributes are not read for a name: titles of honest ones have some tens of characters. */
const attributesBytesMax = 16_384;

interface ChainRow {
  readonly key: InscriptionKey;
  readonly txid: Txid;
  readonly index: number;
  readonly number: number | null;
  readonly children: number;
  readonly gallery_items: number;
  readonly attributes: Buffer | null;
}

/** The collection of a slug. Null: there is none. */
export async function findMarketCollection(
  client: ClientBase,
  slug: string,
): Promise<FoundCollection | null> {
  const id = parseInscriptionId(slug);
  return id === null ? findImport(client, slug) : ((await chainCollections(client, [id]))[0] ?? null);
}

/** The form of the slugs of imports: nothing else is looked for, a NUL least of all. */
const importSlug = /^[a-z0-9][a-z0-9_-]{0,99}$/u;

async function findImport(client: ClientBase, slug: string): Promise<ImportedCollection | null> {
  const found = importSlug.test(slug) ? await readCollection(client, slug) : null;
  return found === null ? null : importedOf(found);
}

export function importedOf(found: MarketCollection): ImportedCollection {
  const { slug, name, icon, items, description, website, twitter, discord } = found;
  return { kind: 'import', slug, name, icon, items, description, website, twitter, discord };
}

/** Those of some inscriptions that have children or a gallery, in their order. */
export async function chainCollections(
  client: ClientBase,
  ids: readonly InscriptionId[],
): Promise<ChainCollection[]> {
  if (ids.length === 0) return [];
  const { rows } = await client.query<ChainRow>(
    `SELECT i.key, i.txid, i.index, i.number, coalesce(c.children, 0) AS children, coalesce(p.items, 0) AS gallery_items,
       CASE WHEN length(p.attributes) <= ${attributesBytesMax} THEN p.attributes END AS attributes
     FROM unnest($1::bytea[], $2::integer[]) WITH ORDINALITY AS given(txid, index, nth)
     JOIN chain.inscriptions i ON i.txid = given.txid AND i.index = given.index
     LEFT JOIN chain.parent_children c ON c.parent_key = i.key
     LEFT JOIN chain.properties p ON p.key = i.key
     WHERE c.children > 0 OR p.items > 0
     ORDER BY given.nth`,
    [ids.map(({ txid }) => Buffer.from(txid)), ids.map(({ index }) => index)],
  );
  return rows.map(chainCollectionOf);
}

function chainCollectionOf(row: ChainRow): ChainCollection {
  const { key, txid, index, number, children, gallery_items: galleryItems, attributes } = row;
  const id = { txid: trustedTxid(txid), index };
  return {
    kind: children > 0 ? 'parent' : 'gallery',
    slug: formatInscriptionId(id.txid, index),
    name: titleOf(attributes) ?? inscriptionName(number, id),
    icon: id,
    key,
    children,
    galleryItems,
  };
}

/** The title that an inscription gives itself, where lists of others can show it. */
function titleOf(attributes: Buffer | null): string | null {
  if (attributes === null) return null;
  // written by our own parser: always JSON
  const { title } = JSON.parse(attributes.toString()) as { readonly title?: unknown };
  return shownName(title);
}

/** The name of an inscription that no collection names. */
export const inscriptionName = (number: number | null, { txid, index }: InscriptionId): string =>
  `Inscription ${number ?? formatInscriptionId(txid, index)}`;

/** A query of the members of a collection, and its parameter $1. */
export interface Members {
  /** Columns `key`, `place` (from 0; null without an order of its own) and `name`: a key once. */
  readonly sql: string;
  readonly of: string | InscriptionKey;
}

const importMembers = `SELECT i.key, m.place, m.name FROM service.market_items m
  JOIN chain.inscriptions i ON i.txid = m.txid AND i.index = m.index WHERE m.slug = $1`;

const children = 'SELECT child_key AS key FROM chain.parents WHERE parent_key = $1';

/** Ids of 36 bytes: txid, index (little endian). */
const galleryItems = `SELECT i.key FROM chain.gallery_pages g
  CROSS JOIN LATERAL generate_series(1, length(g.ids), 36) AS at
  JOIN chain.inscriptions i ON i.txid = substring(g.ids FROM at FOR 32) AND i.index =
    get_byte(g.ids, at + 31) + (get_byte(g.ids, at + 32) << 8) + (get_byte(g.ids, at + 33) << 16)
    + (get_byte(g.ids, at + 34)::bigint << 24)
  WHERE g.key = $1`;

const unplaced = (keys: string): string =>
  `SELECT key, NULL::integer AS place, NULL::text AS name FROM (${keys}) AS found`;

/** Who belongs to a collection, of what is indexed. */
export function membersOf(collection: FoundCollection): Members {
  if (collection.kind === 'import') return { sql: importMembers, of: collection.slug };
  const { key, children: childCount, galleryItems: itemCount } = collection;
  // an inscription has a parent once: a list of children alone needs no pass that makes it distinct
  if (itemCount === 0) return { sql: unplaced(children), of: key };
  if (childCount === 0)
    return { sql: unplaced(`SELECT DISTINCT key FROM (${galleryItems}) AS items`), of: key };
  return { sql: unplaced(`${children} UNION ${galleryItems}`), of: key };
}

/** A condition on an inscription, and its parameter $1. */
export interface MemberTest {
  readonly sql: string;
  readonly of: string | InscriptionKey;
}

/**
 * Whether a collection has an inscription, named by expressions of its txid and index. For some rows of many: each is
 * looked up by an index. OFFSET 0: as a join the planner would read all members first, half a second for 100,000.
 */
export function memberTest(collection: FoundCollection, txid: string, index: string): MemberTest {
  if (collection.kind === 'import') {
    const sql = `EXISTS (SELECT FROM service.market_items
      WHERE market_items.slug = $1 AND market_items.txid = ${txid} AND market_items.index = ${index} OFFSET 0)`;
    return { sql, of: collection.slug };
  }
  const { key, children: childCount, galleryItems: itemCount } = collection;
  const isChild = `EXISTS (SELECT FROM chain.inscriptions c JOIN chain.parents ON child_key = c.key
      WHERE parent_key = $1 AND c.txid = ${txid} AND c.index = ${index} OFFSET 0)`;
  // the index of ids finds few pages; the key first would be a walk along the gallery
  const id = `${txid} || substring(int4send(${index}) FROM 4 FOR 1) || substring(int4send(${index}) FROM 3 FOR 1)
          || substring(int4send(${index}) FROM 2 FOR 1) || substring(int4send(${index}) FROM 1 FOR 1)`;
  const isItem = `EXISTS (SELECT FROM (
        SELECT key FROM chain.gallery_pages
        WHERE chain.id_hashes(ids) @> chain.id_hashes(${id}) AND position(${id} IN ids) > 0 OFFSET 0) AS pages
      WHERE pages.key = $1 OFFSET 0)`;
  const tests = [...(childCount > 0 ? [isChild] : []), ...(itemCount > 0 ? [isItem] : [])];
  return { sql: `(${tests.join(' OR ')})`, of: key };
}

/** A page of the items, or the sales of a block, takes all items of a gallery: 50 ms for 10,000. */
const galleryItemsMax = 1_000;

/** Whether a read of its members is a walk, however little of them is asked for. */
export const isLongGallery = (collection: FoundCollection): boolean =>
  collection.kind !== 'import' && collection.galleryItems > galleryItemsMax;

/** A member as lists show it. */
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

/** The name of a member: the item's, else that of the collection and its place there, else its number. */
export function memberOf(
  collection: FoundCollection,
  { txid, index, number, place, name }: MemberNames,
): Member {
  const id = { txid: trustedTxid(txid), index };
  const placed = place === null ? null : `${collection.name} #${place + 1}`;
  return { id, number, name: name ?? placed ?? inscriptionName(number, id) };
}
