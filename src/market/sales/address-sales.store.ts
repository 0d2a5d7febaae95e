import type { ClientBase } from 'pg';
import { type ListedRow, listedColumns, listedSale, type MarketSale } from './newest-sales.store.ts';
import { isNotOurs } from './sale-lists.ts';
import type { SalePlace } from './sale-places.ts';

/** The two roles of an address in sales. Each role has a column of chain.sales, and an index that finds its sales. */
const sides = {
  sold: { column: 'maker', index: 'sales_maker' },
  bought: { column: 'taker', index: 'sales_taker' },
} as const;

export type SaleSide = keyof typeof sides;

/** The indexes that find the sales of an address. */
export const salesOfAddressIndexes = Object.values(sides).map(({ index }) => index);

/**
 * Planner settings that force the walk along this one index, even if the planner misjudges an address with very many
 * sales.
 */
const planSettings = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('jit', 'off', true)`;

/**
 * SQL: the rows of a script ($1) on one side, up to a height ($2). The ranges cover both columns of the index, because
 * the planner might otherwise walk the primary key instead.
 */
const rowsOf = ({ column }: (typeof sides)[SaleSide]): string => `chain.sales s
  WHERE (chain.hash32(s.${column}), s.height) >= (chain.hash32($1::bytea), 0)
    AND (chain.hash32(s.${column}), s.height) <= (chain.hash32($1::bytea), $2::integer)
    AND s.${column} = $1`;

const newestFirst = (of: SaleSide): string =>
  `chain.hash32(s.${sides[of].column}) DESC, s.height DESC, s.tx_index DESC, s.input DESC, s.place DESC`;

export interface AddressSalesQuestion {
  readonly script: Uint8Array;
  readonly side: SaleSide;
  /** Only sales before this one are read. If it is null, the newest sales are read. */
  readonly before: SalePlace | null;
  readonly limit: number;
}

/** A position after every sale of a chain. */
const end: SalePlace = { height: 2 ** 31 - 1, txIndex: 0, input: 0, place: 0 };

/**
 * Sales of an address on one side, newest first. At most `limit` rows are listed, and deliveries of our own orders
 * among these rows are left out, so a page may have fewer sales. Needs `salesOfAddressIndexes`, and a snapshot, because
 * it changes planner settings of the transaction.
 */
export async function salesOfAddress(
  client: ClientBase,
  { script, side, before, limit }: AddressSalesQuestion,
): Promise<{ readonly sales: readonly MarketSale[]; readonly next: SalePlace | null }> {
  await client.query(planSettings);
  const { height, txIndex, input, place } = before ?? end;
  const { rows } = await client.query<ListedRow & { isOurs: boolean }>(
    `SELECT ${listedColumns}, NOT ${isNotOurs} AS "isOurs"
     FROM (SELECT * FROM ${rowsOf(sides[side])} AND (s.height, s.tx_index, s.input, s.place) < ($2, $3, $4, $5)
       ORDER BY ${newestFirst(side)} LIMIT $6) s
     JOIN chain.blocks b ON b.height = s.height
     JOIN chain.inscriptions i ON i.key = s.key
     ORDER BY ${newestFirst(side)}`,
    [Buffer.from(script), height, txIndex, input, place, limit + 1],
  );
  const looked = rows.slice(0, limit);
  const sales = looked.filter(({ isOurs }) => !isOurs).map(listedSale);
  return { sales, next: rows.length > limit ? (looked.at(-1) ?? null) : null };
}

/** Sums of the sales of an address on one side. */
export interface AddressSums {
  /** Number of sales that are not wash trades. */
  readonly sales: number;
  readonly washSales: number;
  /** Sum of the prices in sats, without wash trades. */
  readonly volume: number;
  /** Whether there may be older sales, which these sums do not include. */
  readonly isLeast: boolean;
}

/**
 * Sums of the newest `most` sales of an address on one side. Needs the same indexes and snapshot as `salesOfAddress`.
 */
export async function sumsOfAddress(
  client: ClientBase,
  script: Uint8Array,
  side: SaleSide,
  most: number,
): Promise<AddressSums> {
  await client.query(planSettings);
  const { rows } = await client.query<Omit<AddressSums, 'isLeast'> & { looked: number }>(
    `SELECT count(*)::integer AS looked, (count(*) FILTER (WHERE counted AND NOT s.wash))::integer AS sales,
       (count(*) FILTER (WHERE counted AND s.wash))::integer AS "washSales",
       coalesce(sum(s.price) FILTER (WHERE counted AND NOT s.wash), 0)::float8 AS volume
     FROM (SELECT s.price, s.wash, ${isNotOurs} AS counted FROM ${rowsOf(sides[side])}
       ORDER BY ${newestFirst(side)} LIMIT $3) s`,
    [Buffer.from(script), end.height, most],
  );
  const { looked = 0, ...sums } = rows[0] ?? { sales: 0, washSales: 0, volume: 0 };
  return { ...sums, isLeast: looked === most };
}
