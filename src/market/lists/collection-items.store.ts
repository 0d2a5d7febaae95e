import type { ClientBase } from 'pg';
import { currentLocations, type Location } from '#chain/inscriptions/location.queries.ts';
import { keyOfInscription } from '#chain/snapshot/inscription-keys.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import {
  type FoundCollection,
  type Member,
  memberOf,
  membersOf,
} from '#market/collections/market-slug.store.ts';
import { type LastSale, lastSalesOf } from '#market/sales/last-sales.store.ts';

/** An item of a collection in its current state. */
export interface CollectionItemDetail extends Member {
  /** Whether the inscription is indexed. False if an import names an inscription that the index does not have (yet). */
  readonly isIndexed: boolean;
  /** Location of the inscription. Null if the inscription is not indexed, or its location is unknown. */
  readonly location: Location | null;
  /** The last sale. Null if no sale of the inscription is known, or sales were not requested. */
  readonly lastSale: LastSale | null;
  /** Null if the inscription is not indexed. */
  readonly key: InscriptionKey | null;
}

interface ItemRow {
  readonly key: InscriptionKey | null;
  readonly txid: Txid;
  readonly index: number;
  readonly number: number | null;
  readonly place: number | null;
  readonly name: string | null;
}

/** Start of a page of items: an index in the list of an import, or a key in any other collection. */
type ItemPosition = number;

/** The position before all items. */
export const firstItems: ItemPosition = -1;

/** SQL: items of an import, in the order of its list. */
const ofImport = `SELECT i.key, m.txid, m.index, i.number, m.place, m.name FROM (
    SELECT txid, index, place, name FROM service.market_items WHERE slug = $1 AND place > $2 ORDER BY place LIMIT $3) m
  LEFT JOIN chain.inscriptions i ON i.txid = m.txid AND i.index = m.index ORDER BY m.place`;

/**
 * SQL: members in the order of their reveals. Each page reads the whole gallery, because a gallery may name an item
 * more than once.
 */
const ofChain = (members: string): string => `SELECT i.key, i.txid, i.index, i.number, m.place, m.name FROM (
    SELECT key, place, name FROM (${members}) AS found WHERE key > $2 ORDER BY key LIMIT $3) m
  JOIN chain.inscriptions i ON i.key = m.key ORDER BY i.key`;

export interface ItemsPlace {
  readonly after: ItemPosition;
  readonly limit: number;
}

/**
 * A page of the items of a collection. It takes three statements, however long the page is.
 *
 * @param withSales false if sales are not indexed up to the tip, because the last known sale may then not be the newest
 *   sale
 */
export async function itemsAfter(
  client: ClientBase,
  collection: FoundCollection,
  { after, limit }: ItemsPlace,
  withSales: boolean,
): Promise<CollectionItemDetail[]> {
  const { sql, of } = membersOf(collection);
  const page = collection.kind === 'import' ? ofImport : ofChain(sql);
  const { rows } = await client.query<ItemRow>(page, [of, after, limit]);
  return itemDetails(client, collection, rows, withSales);
}

const atPlaces = `SELECT i.key, m.txid, m.index, i.number, m.place, m.name
  FROM unnest($2::integer[]) WITH ORDINALITY AS asked(place, nth)
  JOIN service.market_items m ON m.slug = $1 AND m.place = asked.place
  LEFT JOIN chain.inscriptions i ON i.txid = m.txid AND i.index = m.index ORDER BY asked.nth`;

const atKeys = `SELECT i.key, i.txid, i.index, i.number, NULL::integer AS place, NULL::text AS name
  FROM unnest($1::integer[]) WITH ORDINALITY AS asked(key, nth)
  JOIN chain.inscriptions i ON i.key = asked.key ORDER BY asked.nth`;

/** The items at these positions, in the order of the positions. */
export async function itemsAt(
  client: ClientBase,
  collection: FoundCollection,
  positions: readonly ItemPosition[],
  withSales: boolean,
): Promise<CollectionItemDetail[]> {
  const { rows } =
    collection.kind === 'import'
      ? await client.query<ItemRow>(atPlaces, [collection.slug, positions])
      : await client.query<ItemRow>(atKeys, [positions]);
  return itemDetails(client, collection, rows, withSales);
}

async function itemDetails(
  client: ClientBase,
  collection: FoundCollection,
  rows: readonly ItemRow[],
  withSales: boolean,
): Promise<CollectionItemDetail[]> {
  const keys = rows.flatMap(({ key }) => (key === null ? [] : [key]));
  const locations = await currentLocations(client, keys);
  const sales = withSales ? await lastSalesOf(client, keys) : new Map<InscriptionKey, LastSale>();
  return rows.map((row) => ({
    ...memberOf(collection, row),
    key: row.key,
    isIndexed: row.key !== null,
    location: row.key === null ? null : (locations.get(row.key) ?? null),
    lastSale: row.key === null ? null : (sales.get(row.key) ?? null),
  }));
}

/**
 * The position of an item. For an import, returns null if the import does not name the inscription. For other
 * collections, returns null if the inscription is not indexed.
 */
export async function positionOfItem(
  client: ClientBase,
  collection: FoundCollection,
  { txid, index }: InscriptionId,
): Promise<ItemPosition | null> {
  // other collections accept the key of any inscription, because only a walk could show whether it is a member
  if (collection.kind !== 'import') return keyOfInscription(client, { txid, index });
  const { rows } = await client.query<{ position: number }>(
    'SELECT place AS position FROM service.market_items WHERE slug = $1 AND txid = $2 AND index = $3',
    [collection.slug, Buffer.from(txid), index],
  );
  return rows[0]?.position ?? null;
}
