import type { ClientBase } from 'pg';
import type { Height } from '#kernel/primitives/height.ts';
import { type ListedRow, listedColumns, listedSale, type MarketSale } from './newest-sales.store.ts';
import { isNotOurs } from './sale-lists.ts';

/**
 * Maximum number of sales of a block to count and list. Reading them takes some 20 ms. One output may sell thousands of
 * inscriptions at once.
 */
export const blockSalesMax = 10_000;

/**
 * The number of inscriptions that a block sold, up to one more than `blockSalesMax`. Transactions of our own orders are
 * left out.
 */
export async function countSalesOfBlock(client: ClientBase, height: Height): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::integer AS count
     FROM (SELECT FROM chain.sales s WHERE s.height = $1 AND ${isNotOurs} LIMIT ${blockSalesMax + 1}) AS counted`,
    [height],
  );
  return rows[0]?.count ?? 0;
}

/** A page of the sales of a block. */
export interface SalesPart {
  /** Index of the first sale, from 0. */
  readonly from: number;
  readonly limit: number;
}

/** Sales of a block, in the order of the block, including wash trades. */
export async function salesOfBlock(
  client: ClientBase,
  height: Height,
  { from, limit }: SalesPart,
): Promise<MarketSale[]> {
  const { rows } = await client.query<ListedRow>(
    `SELECT ${listedColumns}
     FROM (SELECT * FROM chain.sales s WHERE s.height = $1 AND ${isNotOurs}
           ORDER BY s.height, s.tx_index, s.input, s.place OFFSET $2 LIMIT $3) s
     JOIN chain.blocks b ON b.height = s.height
     JOIN chain.inscriptions i ON i.key = s.key
     ORDER BY s.tx_index, s.input, s.place`,
    [height, Math.min(from, blockSalesMax), limit],
  );
  return rows.map(listedSale);
}
