import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { isImportSlug, soldListSlug } from '#market/imports/import-slug.ts';
import { descriptionOf, linkOf, nameOf } from './collection-texts.ts';

/** A collection that the service starts to sell. Texts that the market cannot show are left out. */
export interface SoldCollection {
  readonly slug: string;
  readonly name: string;
  readonly description: unknown;
  readonly website: unknown;
  /** A URL, or the name of an account. */
  readonly twitter: unknown;
  readonly discord: unknown;
}

/** Why no collection with this slug can be sold, in words that follow "the slug". Returns null if the slug is free. */
export async function soldSlugProblem(db: pg.ClientBase | pg.Pool, slug: string): Promise<string | null> {
  if (!isImportSlug(slug))
    return 'must have 1 to 100 of the characters a-z, 0-9, _ and -, must begin with a letter or a digit, and must be neither "of" nor the id of an inscription';
  const { rowCount } = await db.query('SELECT FROM service.market_collections WHERE slug = $1', [slug]);
  return rowCount === 0 ? null : 'is already the slug of a collection of the market';
}

/**
 * Creates a collection of the market, still without items. Returns false if another collection has its slug. Imports
 * wait until the end of the transaction.
 */
export async function openSoldCollection(tx: pg.ClientBase, given: SoldCollection): Promise<boolean> {
  const { slug } = given;
  // the same lock as for imports, so that two collections never take the same slug
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('market collections', 0))`);
  if ((await soldSlugProblem(tx, slug)) !== null) return false;
  await tx.query(
    `INSERT INTO service.market_collections
       (slug, list_slug, name, description, website, twitter, discord, items, digest)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8)`,
    [
      slug,
      soldListSlug(slug),
      nameOf(given.name).text ?? slug,
      descriptionOf(given.description).text,
      linkOf(given.website).text,
      linkOf(accountUrl(given.twitter)).text,
      linkOf(given.discord).text,
      createHash('sha256').update(soldListSlug(slug)).digest(),
    ],
  );
  return true;
}

const accountUrl = (given: unknown): unknown => {
  const [, account] = typeof given === 'string' ? (/^@?(\w{1,15})$/u.exec(given.trim()) ?? []) : [];
  return account === undefined ? given : `https://x.com/${account}`;
};

/** A delivered item of a sold collection. */
export interface SoldItem {
  readonly id: InscriptionId;
  readonly name: string;
}

/**
 * A database row of an item, with the key of its inscription. `key` is null if the inscription is not indexed (yet).
 */
interface PlacedItem {
  readonly txid: Uint8Array;
  readonly index: number;
  readonly name: string | null;
  readonly key: number | null;
}

/**
 * Adds delivered items. All items stay sorted by their inscriptions, and existing items stay in the list. Orders are
 * completed in almost the same sequence, so only the last rows move.
 */
export async function addSoldItems(
  tx: pg.ClientBase,
  slug: string,
  items: readonly SoldItem[],
): Promise<void> {
  await lockSold(tx, slug);
  const { rows: added } = await tx.query<PlacedItem>(
    `SELECT given.txid, given.index, given.name, i.key
       FROM unnest($2::bytea[], $3::integer[], $4::text[]) WITH ORDINALITY AS given(txid, index, name, nth)
       LEFT JOIN chain.inscriptions i ON i.txid = given.txid AND i.index = given.index
      WHERE NOT EXISTS (SELECT FROM service.market_items AS m
                         WHERE m.slug = $1 AND m.txid = given.txid AND m.index = given.index)
      ORDER BY i.key NULLS LAST, given.nth`,
    [
      slug,
      items.map(({ id }) => Buffer.from(id.txid)),
      items.map(({ id }) => id.index),
      items.map(({ name }) => nameOf(name).text),
    ],
  );
  const [first] = added;
  if (first === undefined) return;
  const { place, following } = await readFollowing(tx, slug, orderOf(first));
  await replaceFrom(
    tx,
    slug,
    place,
    [...following, ...added].toSorted((a, b) => Math.sign(orderOf(a) - orderOf(b)) || 0),
  );
}

/** Removes items whose delivery a reorganisation undid. Later items move up. */
export async function removeSoldItems(
  tx: pg.ClientBase,
  slug: string,
  ids: readonly InscriptionId[],
): Promise<void> {
  await lockSold(tx, slug);
  const { rows } = await tx.query<{ place: number | null }>(
    `WITH gone AS (
       DELETE FROM service.market_items AS m USING unnest($2::bytea[], $3::integer[]) AS given(txid, index)
        WHERE m.slug = $1 AND m.txid = given.txid AND m.index = given.index RETURNING m.place
     ) SELECT min(place) AS place FROM gone`,
    [slug, ids.map(({ txid }) => Buffer.from(txid)), ids.map(({ index }) => index)],
  );
  const place = rows[0]?.place ?? null;
  if (place === null) return;
  const { rows: following } = await tx.query<PlacedItem>(
    'SELECT txid, index, name, NULL AS key FROM service.market_items WHERE slug = $1 AND place > $2 ORDER BY place',
    [slug, place],
  );
  await replaceFrom(tx, slug, place, following);
}

/** Locks a sold collection, so that orders completed at the same time add their items one after the other. */
async function lockSold(tx: pg.ClientBase, slug: string): Promise<void> {
  const { rowCount } = await tx.query(
    'SELECT FROM service.market_collections WHERE slug = $1 AND list_slug = $2 FOR UPDATE',
    [slug, soldListSlug(slug)],
  );
  assert(rowCount === 1, `the market has the sold collection ${slug} from its approval on`);
}

/** Sort key of an item. Items that are not indexed yet come last. */
const orderOf = ({ key }: PlacedItem): number => key ?? Number.POSITIVE_INFINITY;

/** Maximum number of rows that one statement reads backwards. */
const rowsEach = 1_000;

/** The items after a key, in their order, and the position of the first of these items. */
async function readFollowing(
  tx: pg.ClientBase,
  slug: string,
  key: number,
): Promise<{ readonly place: number; readonly following: readonly PlacedItem[] }> {
  const following: PlacedItem[] = [];
  let before: number | null = null;
  for (;;) {
    const { rows }: pg.QueryResult<PlacedItem & { place: number }> = await tx.query(
      `SELECT m.place, m.txid, m.index, m.name, i.key FROM (
         SELECT place, txid, index, name FROM service.market_items
          WHERE slug = $1 AND place < coalesce($2, 2147483647) ORDER BY place DESC LIMIT ${rowsEach}) AS m
       LEFT JOIN chain.inscriptions i ON i.txid = m.txid AND i.index = m.index ORDER BY m.place DESC`,
      [slug, before],
    );
    for (const { place, ...item } of rows) {
      if (orderOf(item) <= key) return { place: place + 1, following: following.toReversed() };
      following.push(item);
      before = place;
    }
    if (rows.length < rowsEach) return { place: 0, following: following.toReversed() };
  }
}

/**
 * Replaces the items from a position on, updates the number of items, and gives the collection a new revision. The
 * first item becomes the icon, because creators send pictures as URLs, but the market shows only inscriptions.
 */
async function replaceFrom(
  tx: pg.ClientBase,
  slug: string,
  place: number,
  items: readonly PlacedItem[],
): Promise<void> {
  await tx.query('DELETE FROM service.market_items WHERE slug = $1 AND place >= $2', [slug, place]);
  await tx.query(
    `INSERT INTO service.market_items (slug, place, txid, index, name)
     SELECT $1, $2 + given.nth - 1, given.txid, given.index, given.name
       FROM unnest($3::bytea[], $4::integer[], $5::text[]) WITH ORDINALITY AS given(txid, index, name, nth)`,
    [
      slug,
      place,
      items.map(({ txid }) => txid),
      items.map(({ index }) => index),
      items.map(({ name }) => name),
    ],
  );
  await tx.query(
    `UPDATE service.market_collections SET items = $2, revision = DEFAULT,
            (icon_txid, icon_index) = (SELECT txid, index FROM service.market_items WHERE slug = $1 AND place = 0)
      WHERE slug = $1`,
    [slug, place + items.length],
  );
}
