import type { ClientBase } from 'pg';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import { type HeightRange, salesOfInscription, salesOfItemIndex } from '#chain/sales/sale.queries.ts';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { SaleView } from '#kernel/sales/sale-view.ts';
import { saleView } from '#market/sales/sale-view.ts';
import { ownTransactions } from '#purse/transactions/own-transactions.queries.ts';

/**
 * The newest sales of an inscription, newest first. Empty while the table of sales is being filled, or while its index
 * is being built. Deliveries of the operator's own orders are not sales.
 *
 * @param heights the range of blocks; if absent, all blocks
 */
export async function shownSales(
  client: ClientBase,
  key: InscriptionKey,
  network: NetworkParameters,
  { limit, heights }: { readonly limit: number; readonly heights?: HeightRange },
): Promise<SaleView[]> {
  const built = await builtIndexes(client, [salesOfItemIndex]);
  if (!built.has(salesOfItemIndex) || !(await isComplete(client, 'sales'))) return [];
  const sales = await salesOfInscription(client, key, limit, heights);
  const own = await ownTransactions(
    client,
    sales.map(({ txid }) => txid),
  );
  const others = sales.filter(({ txid }) => !own.some((of) => Buffer.compare(of, txid) === 0));
  return others.map((sale) => saleView(sale, network));
}
