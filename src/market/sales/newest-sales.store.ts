import type { ClientBase } from 'pg';
import { evidenceColumns, saleNames } from '#chain/sales/sale.queries.ts';
import { type BlockHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { AsStored, SaleEvidence } from '#kernel/sales/sale-evidence.ts';
import { moveClasses } from '#kernel/sales/sale-names.ts';
import { isNotOurs } from './sale-lists.ts';
import type { SalePlace } from './sale-places.ts';

/** A sale of any inscription, with its evidence (docs/marketplace.md). */
export interface MarketSale extends SaleEvidence, SalePlace {
  readonly id: InscriptionId;
  /** Number of the inscription. Null if the number is unknown. */
  readonly number: number | null;
  readonly height: Height;
  readonly txid: Txid;
  readonly blockHash: BlockHash;
  /** Time of the block, in Unix seconds. */
  readonly time: number;
  /**
   * Script of the maker. A script above 128 bytes, here or in `taker`, is stored as its first 97 bytes and a sha256.
   */
  readonly maker: Uint8Array;
  /** Script of the taker. Null if the inscription went into the fee. */
  readonly taker: Uint8Array | null;
  /** Whether maker and taker are the same. */
  readonly isWash: boolean;
}

export interface NewestSalesQuestion {
  /** Only sales before this one are read. If it is null, the newest sales are read. */
  readonly before: SalePlace | null;
  /** Only sales of this class are read. If it is null, sales of both classes are read. */
  readonly class: 'sale' | 'offer' | null;
  /** Lowest and highest price in sats. Both limits are included. Null means no limit. */
  readonly from: number | null;
  readonly to: number | null;
  readonly withWash: boolean;
  readonly limit: number;
}

/** A page of sales, newest first. */
export interface NewestSales {
  readonly sales: readonly MarketSale[];
  /** The next page contains sales before this one. Null if there is no older sale. */
  readonly next: SalePlace | null;
}

/**
 * Maximum number of sales to check for one page. Checking them takes some 20 ms. If filters exclude all of these sales,
 * the next page begins after the last checked sale.
 */
const lookedMax = 5_000;

const placeColumns = 's.height, s.tx_index, s.input, s.place';
const newestFirst = 's.height DESC, s.tx_index DESC, s.input DESC, s.place DESC';
/** SQL: the rows before the position $1 to $4, by the primary key. */
const looked = (columns: string): string => `SELECT ${columns} FROM chain.sales s
  WHERE (${placeColumns}) < ($1::integer, $2::integer, $3::integer, $4::integer)
  ORDER BY ${newestFirst} LIMIT ${lookedMax}`;

/** A position after every sale of a chain. */
const end: SalePlace = { height: 2 ** 31 - 1, txIndex: 0, input: 0, place: 0 };

/** A database row with `listedColumns`. */
export interface ListedRow extends Omit<AsStored<MarketSale>, 'id'> {
  readonly revealTxid: Txid;
  readonly index: number;
}

/** SQL: the listed columns of a row `s` of chain.sales, its block `b` and its inscription `i`. */
export const listedColumns = `i.txid AS "revealTxid", i.index, i.number, s.height, s.tx_index AS "txIndex", s.input, s.place, s.txid,
       b.hash AS "blockHash", b.time::float8 AS time, ${evidenceColumns}`;

export const listedSale = ({ revealTxid, index, ...row }: ListedRow): MarketSale => ({
  ...row,
  ...saleNames(row),
  id: { txid: trustedTxid(revealTxid), index },
});

/** The newest sales of all inscriptions. Transactions of our own orders are left out. */
export async function newestSales(
  client: ClientBase,
  { before, class: of, from, to, withWash, limit }: NewestSalesQuestion,
): Promise<NewestSales> {
  const { height, txIndex, input, place } = before ?? end;
  const { rows } = await client.query<ListedRow>(
    `SELECT ${listedColumns}
     FROM (
       SELECT * FROM (${looked('*')}) s
       WHERE ($5::smallint IS NULL OR s.class = $5) AND ($6::bigint IS NULL OR s.price >= $6)
         AND ($7::bigint IS NULL OR s.price <= $7) AND ($8 OR NOT s.wash) AND ${isNotOurs}
       ORDER BY ${newestFirst} LIMIT $9) s
     JOIN chain.blocks b ON b.height = s.height
     JOIN chain.inscriptions i ON i.key = s.key
     ORDER BY ${newestFirst}`,
    [height, txIndex, input, place, of === null ? null : moveClasses[of], from, to, withWash, limit + 1],
  );
  const sales = rows.map(listedSale);
  const shown = sales.slice(0, limit);
  if (sales.length > limit) return { sales: shown, next: shown.at(-1) ?? null };
  return { sales, next: await lastLooked(client, [height, txIndex, input, place]) };
}

/** The last row that one page checks. Returns null if there are no more rows. */
async function lastLooked(client: ClientBase, before: number[]): Promise<SalePlace | null> {
  const { rows } = await client.query<SalePlace>(
    `SELECT s.height, s.tx_index AS "txIndex", s.input, s.place FROM (${looked('*')}) s
     ORDER BY ${newestFirst} OFFSET ${lookedMax - 1}`,
    before,
  );
  return rows[0] ?? null;
}
