import { LRUCache } from 'lru-cache';
import type { ClientBase } from 'pg';
import { requireSales } from '#chain/sales/sale.queries.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import {
  type CollectionStanding,
  type RemadeSales,
  standingOf,
} from '#market/collections/collection-standing.store.ts';
import { type FoundCollection, isLongGallery, membersOf } from '#market/collections/market-slug.store.ts';
import { isOwnTransaction } from '#purse/transactions/own-transactions.queries.ts';
import { type SoldInBlock, salesIn } from './sale-places.ts';

/** Maximum number of kept sales of all collections. Each sale takes 12 bytes, so all sales take 48 MB. */
const keptSalesMax = 4_000_000;
/**
 * Memory that a block of a list needs in addition to its sales, measured in sales. The block is an object of seven
 * fields and a buffer.
 */
const blockSales = 19;
/**
 * Maximum number of new blocks whose sales any request reads at once. If a large collection sells a hundred items in
 * each block, reading them takes some 20 ms. Reading more is a walk. For a long gallery, even one new block is a walk,
 * because all items of the gallery are read.
 */
const newBlocksMax = 12;
/** How long a walk may take, in ms. A million sales take a second or two on a quiet machine. */
const walkMs = 10_000;

interface SaleList {
  /** The block up to which the list is complete. */
  readonly tip: Tip;
  /**
   * Revision of the import, which changes with each change of the import. Null if the chain decides the members of the
   * collection.
   */
  readonly revision: string | null;
  /** `chain.state.derived_epoch`, which changes with each rebuild of the table of sales. */
  readonly epoch: number;
  /** Progress of the rebuild when the list was read. Null if there was no rebuild. */
  readonly remade: RemadeSales | null;
  readonly blocks: readonly SoldInBlock[];
}

/**
 * Lists of the positions of the sales of collections, in chain order. A deep page needs a walk over all sales before
 * it, so the list is kept, and grows with each block. The list is rebuilt after a reorganisation, after another import
 * of the slug, and after new rules (docs/adr/0048-reads-of-collections.md). While new rules rebuild the rows, the list
 * reads again the blocks that were rebuilt since its last read.
 */
export class SaleLists {
  readonly #lists = new LRUCache<string, SaleList>({ maxSize: keptSalesMax, sizeCalculation: sizeOf });

  /**
   * The sales of a collection in a snapshot, by block, without deliveries and returns of our own orders. Throws
   * `sales_not_indexed`, and `derived_table_behind` while the table of sales is being filled. Postgres ends a walk that
   * takes too long (57014).
   *
   * @param mayWalk if false, only kept lists and the sales of a few blocks are read; the result is null if they do not
   * suffice
   */
  async read(
    client: ClientBase,
    collection: FoundCollection,
    tip: Tip,
    mayWalk: boolean,
  ): Promise<readonly SoldInBlock[] | null> {
    await requireSales(client);
    const { slug } = collection;
    const last = this.#lists.get(slug);
    const now = await standingOf(client, slug, last?.tip.height ?? tip.height);
    const kept = last !== undefined && isTrue(last, now) ? last : null;
    const ranges = rangesToRead(kept, now, tip.height);
    if (kept !== null && ranges.length === 0) return kept.blocks;
    if (isWalk(collection, ranges)) {
      if (!mayWalk) return null;
      await client.query(`SET LOCAL statement_timeout = ${walkMs}`);
    }
    let blocks: readonly SoldInBlock[] = kept?.blocks ?? [];
    for (const { above, to } of ranges) {
      const [below, beyond] = [
        blocks.filter(({ height }) => height <= above),
        blocks.filter(({ height }) => height > to),
      ];
      blocks = [...below, ...(await readSold(client, collection, above, to)), ...beyond];
    }
    // a read of a later snapshot may have stored a longer list meanwhile; the next read then adds the missing blocks
    // again
    const { revision, epoch, remade } = now;
    this.#lists.set(slug, { tip, revision, epoch, remade, blocks });
    return blocks;
  }
}

function isWalk(collection: FoundCollection, ranges: readonly BlockRange[]): boolean {
  const newBlocks = ranges.reduce((count, { above, to }) => count + to - above, 0);
  return newBlocks > (isLongGallery(collection) ? 0 : newBlocksMax);
}

/** Whether a list belongs to the current chain, import and rules. */
function isTrue({ tip, revision, epoch, remade }: SaleList, now: CollectionStanding): boolean {
  if (revision !== now.revision || epoch !== now.epoch || now.hash?.equals(tip.hash) !== true) return false;
  const is = now.remade;
  if (remade === null || is === null) return remade === is;
  return remade.undoEpoch === is.undoEpoch && remade.height <= is.height;
}

/** The heights above `above`, up to and including `to`. */
interface BlockRange {
  readonly above: number;
  readonly to: number;
}

/** The blocks that a list lacks, and the blocks whose rows have been rebuilt since. */
function rangesToRead(kept: SaleList | null, now: CollectionStanding, tip: number): BlockRange[] {
  if (kept === null) return [{ above: -1, to: tip }];
  const is = now.remade;
  const renewed =
    kept.remade === null || is === null
      ? []
      : [{ above: kept.remade.height, to: Math.min(is.height, kept.tip.height) }];
  return [...renewed, { above: kept.tip.height, to: tip }].filter(({ above, to }) => to > above);
}

function sizeOf({ blocks }: SaleList): number {
  let size = 1;
  for (const block of blocks) size += blockSales + salesIn(block);
  return size;
}

/**
 * SQL: whether the row `s` of chain.sales is not from an order of this service. Deliveries and returns of our orders
 * are not sales.
 */
export const isNotOurs = `NOT ${isOwnTransaction('s.txid')}`;

/**
 * SQL: sums of rows `s` of chain.sales, as doubles. Doubles are exact up to 2^53 sats, which is more than four times
 * all sats that will ever exist.
 */
export const sumsOfSales = `count(*) FILTER (WHERE s.wash)::integer AS "washSales",
       coalesce(sum(s.price) FILTER (WHERE NOT s.wash), 0)::float8 AS volume,
       coalesce(sum(s.price) FILTER (WHERE s.wash), 0)::float8 AS "washVolume",
       (min(s.price) FILTER (WHERE NOT s.wash))::float8 AS lowest`;

/**
 * The sales of the blocks above the height `above`, up to and including `to`. Reads one row for each block, because one
 * row for each of a million sales would be a million objects.
 */
async function readSold(
  client: ClientBase,
  collection: FoundCollection,
  above: number,
  to: number,
): Promise<SoldInBlock[]> {
  const { sql, of } = membersOf(collection);
  const { rows } = await client.query<SoldInBlock>(
    `WITH members AS (${sql}), sold AS (
       SELECT s.height, string_agg(int4send(s.tx_index) || int4send(s.input) || int4send(s.place), ''::bytea
         ORDER BY s.tx_index, s.input, s.place) AS places, ${sumsOfSales}
       FROM chain.sales s JOIN members m USING (key)
       WHERE s.height > $2 AND s.height <= $3 AND ${isNotOurs} GROUP BY s.height)
     SELECT height, b.time::float8 AS time, places, "washSales", volume, "washVolume", lowest FROM sold JOIN chain.blocks b USING (height) ORDER BY height`,
    [of, above, to],
  );
  return rows;
}
