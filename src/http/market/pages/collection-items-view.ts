import type { ClientBase } from 'pg';
import { inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import { areSalesLeftOut, requireSales, salesOfItemIndex } from '#chain/sales/sale.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { idText } from '#http/market/collection-views.ts';
import { itemsPage } from '#http/market/collections/collection-items.routes.ts';
import type { CollectionNow } from '#http/market/collections/collection-parts.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { TraitPair } from '#kernel/text/trait-pairs.ts';
import { placesWithTraits, readTraits } from '#market/collections/collection-traits.store.ts';
import { type CollectionItemDetail, itemsAt } from '#market/lists/collection-items.store.ts';
import { isSortable, ordersOf, positionsIn, positionsWith, sortsAtOnce } from '#market/lists/item-orders.ts';
import type { CollectionPageView, ItemLine, ItemsPlace } from '#web/pages/collection.page.ts';
import type { ItemSort } from '#web/parts/item-filters.ts';

/**
 * Maximum number of items on a page. Each item has a picture. The browser requests the picture when the item comes near
 * the visible part.
 */
const itemsPerPage = 60;

/** A requested page of the items of a collection. */
export interface ItemsQuestion {
  readonly query: string;
  /** The traits that each item must have. */
  readonly traits: readonly TraitPair[];
  readonly sort: ItemSort;
  /** Number of the page, from 1. */
  readonly page: number;
  /** The last item of the previous page, in a list without page numbers. `null` for the first page. */
  readonly after: InscriptionId | null;
}

type ItemsView = Pick<CollectionPageView, 'filters' | 'matching' | 'items' | 'place'>;

/** A page of items. `null` if it needs a full scan that is not allowed. */
export async function itemsView(
  reads: SaleReads,
  client: ClientBase,
  now: CollectionNow,
  question: ItemsQuestion,
  mayWalk: boolean,
): Promise<ItemsView | null> {
  const { collection } = now;
  const { query, sort, traits } = question;
  const orders = await ordersOf(client, collection);
  const isSearchable = isSortable(collection);
  const choices = collection.kind === 'import' ? await readTraits(client, collection.slug) : [];
  const filters = { query, traits, choices, sort, isSearchable, sorts: ['listed', ...orders] as ItemSort[] };
  const isPlain = sort === 'listed' && query === '' && traits.length === 0 && collection.kind !== 'import';
  const found =
    question.after !== null || isPlain || !isSearchable
      ? await pageByCursor(client, now, question.after, mayWalk)
      : await pageByNumber(reads, client, now, question, mayWalk);
  if (found === null) return null;
  const { items, place, matching } = found;
  return { filters, matching, items: await itemLines(client, items), place };
}

interface FoundItems {
  readonly items: readonly CollectionItemDetail[];
  readonly place: ItemsPlace;
  readonly matching: number | null;
}

async function pageByCursor(
  client: ClientBase,
  { collection }: CollectionNow,
  after: InscriptionId | null,
  mayWalk: boolean,
): Promise<FoundItems | null> {
  const page = await itemsPage(client, collection, { after, limit: itemsPerPage }, mayWalk);
  if (page === null) return null;
  const { items, nextAfter } = page;
  const place: ItemsPlace = { kind: 'cursor', after: after === null ? null : idText(after), nextAfter };
  return { items, place, matching: null };
}

async function pageByNumber(
  reads: SaleReads,
  client: ClientBase,
  now: CollectionNow,
  question: ItemsQuestion,
  mayWalk: boolean,
): Promise<FoundItems | null> {
  const { collection } = now;
  const { page } = question;
  const positions = await positionsOf(reads, client, now, question, mayWalk);
  if (positions === null) return null;
  const areSold = !(await areSalesLeftOut(client));
  if (areSold) {
    await requireSales(client);
    await requireIndexes(client, [salesOfItemIndex], 'sales by inscription');
  }
  const shown = positions.slice((page - 1) * itemsPerPage, page * itemsPerPage);
  const totalPages = Math.ceil(positions.length / itemsPerPage);
  return {
    items: await itemsAt(client, collection, shown, areSold),
    place: { kind: 'page', page, totalPages },
    matching: positions.length,
  };
}

/**
 * Positions of the matching items, in the requested order. Only the collection's own order is known without reading
 * anything. `null` if the order needs a full scan that is not allowed.
 */
async function positionsOf(
  reads: SaleReads,
  client: ClientBase,
  { collection, tip }: CollectionNow,
  { query, sort, traits }: ItemsQuestion,
  mayWalk: boolean,
): Promise<number[] | null> {
  // only items of imports have traits in a list, so with traits no item of another collection matches
  if (collection.kind !== 'import' && traits.length > 0) return [];
  const withTraits = await placesWithTraits(client, collection.slug, traits);
  if (sort === 'listed' && query === '' && collection.kind === 'import')
    return withTraits === null
      ? Array.from({ length: collection.items }, (_, place) => place)
      : [...withTraits].sort((a, b) => a - b);
  if (query !== '' && !mayWalk && !sortsAtOnce(collection)) return null;
  const order = await reads.orders.read(client, collection, tip, sort, mayWalk);
  if (order === 'walk') return null;
  const fitting = await positionsWith(client, collection, query);
  const sets = [fitting, withTraits].filter((set) => set !== null);
  return [...positionsIn(order)].filter((position) => sets.every((set) => set.has(position)));
}

async function itemLines(client: ClientBase, items: readonly CollectionItemDetail[]): Promise<ItemLine[]> {
  const keys = items.flatMap(({ key }) => (key === null ? [] : [key]));
  const summaries = new Map(
    (await inscriptionSummaries(client, keys)).map((summary) => [summary.key, summary]),
  );
  return items.map(({ id, key, name, number, isIndexed, lastSale }) => {
    const { contentType = null, text = null } = (key === null ? undefined : summaries.get(key)) ?? {};
    return {
      inscriptionId: idText(id),
      name,
      number,
      indexed: isIndexed,
      contentType,
      text,
      lastSale: lastSale === null ? null : { price: lastSale.price, wash: lastSale.isWash },
    };
  });
}
