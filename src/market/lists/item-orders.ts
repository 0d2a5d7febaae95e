import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import { areSalesLeftOut, requireSales, salesOfItemIndex } from '#chain/sales/sale.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { standingOf } from '#market/collections/collection-standing.store.ts';
import { type FoundCollection, membersOf } from '#market/collections/market-slug.store.ts';
import { isNotOurs } from '#market/sales/sale-lists.ts';
import { listedItems } from './item-holder-lists.ts';

/**
 * A sort order of the items of a collection. `listed` is the order of an import's list, and the order of reveals in
 * other collections.
 */
export type ItemOrder = 'listed' | 'number' | 'number-desc' | 'name' | 'price' | 'price-desc' | 'sold';

/** Maximum number of bytes of all kept sort orders. A sort order of the largest import takes 400 kB. */
const keptBytesMax = 32_000_000;
/** Number of bytes of a sort order without its items. */
const listBytes = 300;
/** Maximum number of items that any request sorts at once. Sorting them takes some 20 ms. Sorting more is a walk. */
const smallItemsMax = 1_000;
/**
 * Maximum number of items that can be sorted. The largest import has this number of items. Collections of the chain may
 * have millions of items, and can then be read only in their own order.
 */
const sortedItemsMax = 100_000;
/** How long a walk may take, in ms. Sorting 100,000 items by their last sales takes two seconds. */
const walkMs = 10_000;

const placeBytes = 4;

/** Whether a collection can be sorted. */
export const isSortable = (collection: FoundCollection): boolean => listedItems(collection) <= sortedItemsMax;

/** Whether any request may sort or search the collection. */
export const sortsAtOnce = (collection: FoundCollection): boolean => listedItems(collection) <= smallItemsMax;

/**
 * SQL: a name in which each number is padded to ten digits, so that `Frog 9` comes before `Frog 10`. Numbers in names
 * are shorter than ten digits.
 */
const naturalName = String.raw`regexp_replace(regexp_replace(lower(m.name), '(\d+)', '000000000\1', 'g'), '\d*(\d{10})', '\1', 'g')`;

/** SQL: the newest sale `l` of a row `m`. Unsold items have no sale. */
const lastSale = `LEFT JOIN LATERAL (SELECT s.price, s.height, s.tx_index, s.input, s.place FROM chain.sales s
    WHERE s.key = m.key AND ${isNotOurs} ORDER BY s.height DESC, s.tx_index DESC, s.input DESC, s.place DESC LIMIT 1) l ON true`;

const orderings: Readonly<Record<ItemOrder, string>> = {
  listed: 'm.position',
  number: 'm.number NULLS LAST',
  'number-desc': 'm.number DESC NULLS LAST',
  name: `${naturalName} COLLATE "C" NULLS LAST`,
  price: 'l.price NULLS LAST',
  'price-desc': 'l.price DESC NULLS LAST',
  sold: 'l.height DESC NULLS LAST, l.tx_index DESC, l.input DESC, l.place DESC',
};
const needsSales: ReadonlySet<ItemOrder> = new Set(['price', 'price-desc', 'sold']);

/**
 * Sort orders of the items of collections. Sorting needs a walk over all items, so a sort order is kept for other
 * pages. The key of a sort order contains its block, the revision of the import and the epoch of the derived tables, so
 * a kept sort order is never wrong.
 */
export class ItemOrders {
  readonly #orders = new LRUCache<string, Buffer>({
    maxSize: keptBytesMax,
    sizeCalculation: ({ length }) => listBytes + length,
  });

  /**
   * The positions of the items in a sort order: indexes in the list of an import, or keys in any other collection. Each
   * position is a big-endian number of four bytes.
   *
   * @param mayWalk if false, only kept sort orders and small collections are read
   */
  async read(
    client: ClientBase,
    collection: FoundCollection,
    { height, hash }: Tip,
    order: ItemOrder,
    mayWalk: boolean,
  ): Promise<Buffer | 'walk'> {
    const { revision, epoch, remade } = await standingOf(client, collection.slug, height);
    const name = `${Buffer.from(hash).toString('hex')} ${epoch} ${remade?.height ?? ''} ${revision ?? ''} ${order} ${collection.slug}`;
    const kept = this.#orders.get(name);
    if (kept !== undefined) return kept;
    if (!mayWalk && !sortsAtOnce(collection)) return 'walk';
    if (needsSales.has(order)) {
      await requireSales(client);
      await requireIndexes(client, [salesOfItemIndex], 'sales by inscription');
    }
    await client.query(`SET LOCAL statement_timeout = ${walkMs}`);
    const sorted = await readOrder(client, collection, order);
    this.#orders.set(name, sorted);
    return sorted;
  }
}

/** The sort orders that this server supports, without `listed`. */
export const ordersOf = async (client: ClientBase, collection: FoundCollection): Promise<ItemOrder[]> => {
  if (!isSortable(collection)) return [];
  const areLeftOut = await areSalesLeftOut(client);
  const orders = Object.keys(orderings) as ItemOrder[];
  return orders.filter((order) => order !== 'listed' && !(areLeftOut && needsSales.has(order)));
};

/** SQL: the items of an import, indexed or not, or the members of another collection. */
function itemsOf(collection: FoundCollection): { readonly sql: string; readonly of: string | number } {
  if (collection.kind === 'import') {
    const sql = `SELECT i.key, i.number, t.place AS position, coalesce(t.name, $2::text || ' #' || t.place + 1) AS name
      FROM service.market_items t LEFT JOIN chain.inscriptions i ON i.txid = t.txid AND i.index = t.index WHERE t.slug = $1`;
    return { sql, of: collection.slug };
  }
  const { sql, of } = membersOf(collection);
  return {
    sql: `SELECT key, i.number, key AS position, coalesce(found.name, $2::text || i.number) AS name
      FROM (${sql}) AS found JOIN chain.inscriptions i USING (key)`,
    of,
  };
}

async function readOrder(client: ClientBase, collection: FoundCollection, order: ItemOrder): Promise<Buffer> {
  const { sql, of } = itemsOf(collection);
  const { rows } = await client.query<{ positions: Buffer | null }>(
    `SELECT string_agg(int4send(m.position), ''::bytea ORDER BY ${orderings[order]}, m.position) AS positions
     FROM (${sql}) AS m ${needsSales.has(order) ? lastSale : ''}`,
    [of, collection.kind === 'import' ? collection.name : 'Inscription '],
  );
  return rows[0]?.positions ?? Buffer.alloc(0);
}

/**
 * Positions of the items whose name contains a text, or whose number or id is the text. Returns null, for all items, if
 * the text is empty.
 */
export async function positionsWith(
  client: ClientBase,
  collection: FoundCollection,
  text: string,
): Promise<ReadonlySet<number> | null> {
  if (text === '') return null;
  // no name has a NUL character, and Postgres does not accept NUL
  if (text.includes('\0')) return new Set();
  const { sql, of } = itemsOf(collection);
  await client.query(`SET LOCAL statement_timeout = ${walkMs}`);
  const { rows } = await client.query<{ positions: Buffer | null }>(
    `SELECT string_agg(int4send(m.position), ''::bytea) AS positions FROM (${sql}) AS m
     WHERE strpos(lower(m.name), lower($3)) > 0 OR m.number::text = ltrim($3, '#')
       OR m.key = (SELECT key FROM chain.inscriptions WHERE txid = $4 AND index = $5)`,
    [of, collection.kind === 'import' ? collection.name : 'Inscription ', text, ...inscriptionOf(text)],
  );
  return new Set(positionsIn(rows[0]?.positions ?? Buffer.alloc(0)));
}

/** The txid and index of a text that is an id of an inscription. Both are null for any other text. */
function inscriptionOf(text: string): [Buffer | null, number | null] {
  const id = parseInscriptionId(text);
  return id === null ? [null, null] : [Buffer.from(id.txid), id.index];
}

/** The positions in a packed sort order of `ItemOrders`. */
export function* positionsIn(packed: Buffer): Generator<number> {
  for (let at = 0; at < packed.length; at += placeBytes) yield packed.readInt32BE(at);
}
