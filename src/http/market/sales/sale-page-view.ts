import type { ClientBase } from 'pg';
import { type StoredSale, salesOfInscription, salesOfItemIndex } from '#chain/sales/sale.queries.ts';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import { keyOfInscription } from '#chain/snapshot/inscription-keys.ts';
import { idText } from '#http/market/collection-views.ts';
import { saleLine } from '#http/market/pages/market-page-parts.ts';
import { coinInDollars } from '#http/server/answers/coin-in-dollars.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { ownerText } from '#kernel/bitcoin/stored-owner.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { type ShownItem, shownItems } from '#market/lists/shown-items.store.ts';
import { type PendingSale, pendingSales } from '#market/sales/pending-sales.store.ts';
import { saleView } from '#market/sales/sale-view.ts';
import { ownTransactions } from '#purse/transactions/own-transactions.queries.ts';
import type { Site } from '#web/layout.ts';
import type { SalePageView, SoldItem } from '#web/pages/sale.page.ts';
import type { SaleLine } from '#web/parts/sale-rows.ts';

/**
 * Maximum number of rows for a transaction that is not in a block yet. A row has a hundred bytes, and a purchase has
 * some tens of items.
 */
const pendingMax = 100;
/**
 * Maximum number of items whose other sales are on the page. It is more than a usual purchase has. Each item needs
 * three statements.
 */
const itemsWithOthersMax = 5;
const othersMax = 20;

interface AskedSale {
  readonly txid: Txid;
  /** Sales that are in a block. */
  readonly sales: readonly StoredSale[];
  readonly hasAll: boolean;
  readonly site: Site;
}

/**
 * Reads the data of a transaction's page. These are its sales in a block, or its sales in the mempool if it is in no
 * block. `null` if the transaction has no sales.
 */
export async function salePageView(
  client: ClientBase,
  deps: AppDependencies,
  asked: AskedSale,
): Promise<SalePageView | null> {
  const [first] = asked.sales;
  const dollarsPerCoin = await coinInDollars(deps);
  if (first === undefined) return pendingView(client, deps, asked, dollarsPerCoin);
  const ids = asked.sales.map(({ revealTxid, index }) => ({ txid: revealTxid, index }));
  const shown = asked.sales.map((sale) => saleView(sale, deps.network));
  const sold = await soldItems(client, deps, asked, ids, shown);
  const { height, time } = first;
  return sold === null
    ? null
    : {
        ...heads(asked),
        block: { height, time },
        firstSeen: null,
        dollarsPerCoin,
        sold,
        hasAll: asked.hasAll,
      };
}

async function pendingView(
  client: ClientBase,
  deps: AppDependencies,
  asked: AskedSale,
  dollarsPerCoin: number | null,
): Promise<SalePageView | null> {
  const filter = { script: null, inscription: null, collection: null, txid: asked.txid };
  const rows = await pendingSales(client, filter, null, pendingMax + 1);
  const [first] = rows;
  const pending = rows.slice(0, pendingMax);
  const ids = pending.map(({ item }) => item);
  const shown = pending.map((sale) => pendingSaleView(sale, deps));
  const sold = await soldItems(client, deps, asked, ids, shown);
  if (sold === null || first === undefined) return null;
  const firstSeen = Math.floor(first.first_seen.getTime() / 1000);
  return { ...heads(asked), block: null, firstSeen, dollarsPerCoin, sold, hasAll: rows.length <= pendingMax };
}

const heads = ({ site, txid }: AskedSale) => ({ site, txid: displayHash(txid) });

function pendingSaleView(
  { item, txid, maker, taker, isWash, ...evidence }: PendingSale,
  { network }: AppDependencies,
): SoldItem['sale'] {
  return {
    ...evidence,
    inscriptionId: idText(item),
    txid: displayHash(txid),
    maker: ownerText(maker, network),
    taker: taker === null ? null : ownerText(taker, network),
    wash: isWash,
  };
}

/** The items that were sold. `null` if the transaction contains no sale. */
async function soldItems(
  client: ClientBase,
  deps: AppDependencies,
  { txid }: AskedSale,
  ids: readonly InscriptionId[],
  sales: readonly SoldItem['sale'][],
): Promise<SalePageView['sold'] | null> {
  const items = await shownItems(client, ids);
  const areRead =
    ids.length <= itemsWithOthersMax &&
    (await builtIndexes(client, [salesOfItemIndex])).has(salesOfItemIndex);
  const sold: SoldItem[] = [];
  for (const [nth, item] of items.entries()) {
    const sale = sales[nth];
    const others = areRead ? await otherSales(client, deps, txid, item) : null;
    if (sale !== undefined) sold.push({ sale, ...item, others });
  }
  const [first, ...more] = sold;
  return first === undefined ? null : [first, ...more];
}

async function otherSales(
  client: ClientBase,
  { network }: AppDependencies,
  txid: Txid,
  item: ShownItem,
): Promise<SaleLine[]> {
  const key = await keyOfInscription(client, item.id);
  if (key === null) return [];
  const sales = (await salesOfInscription(client, key, othersMax + 1)).filter(
    (sale) => Buffer.compare(sale.txid, txid) !== 0,
  );
  const own = await ownTransactions(
    client,
    sales.map((sale) => sale.txid),
  );
  const isOwn = (sale: StoredSale): boolean => own.some((of) => Buffer.compare(of, sale.txid) === 0);
  return sales
    .filter((sale) => !isOwn(sale))
    .map((sale) => saleLine(sale, { ...item, collection: null }, network));
}
