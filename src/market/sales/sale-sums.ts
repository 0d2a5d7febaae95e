import { daySeconds } from '#kernel/primitives/day.ts';
import { type SoldInBlock, salesIn } from './sale-places.ts';

/** Number and sums of sales. Wash trades are separate, and not part of `sales` and `volume`. */
export interface SaleSums {
  readonly sales: number;
  /** Sum of the prices in sats. */
  readonly volume: number;
  readonly washSales: number;
  readonly washVolume: number;
  /** The lowest price in sats, without wash trades. Null if all sales are wash trades. */
  readonly lowest: number | null;
}

/** The sums of a day with a sale. */
export interface DaySums extends SaleSums {
  /** UTC days since 1970, by the times of blocks. */
  readonly day: number;
}

export const noSales: SaleSums = { sales: 0, volume: 0, washSales: 0, washVolume: 0, lowest: null };

/** The sums of the sales of these blocks. */
export function sumsOf(blocks: readonly SoldInBlock[]): SaleSums {
  return blocks.reduce((sums, block) => plus(sums, sumsOfBlock(block)), noSales);
}

/** The sums of the blocks whose time is at least `from` and below `to`, in Unix seconds. */
export const sumsBetween = (blocks: readonly SoldInBlock[], from: number, to: number): SaleSums =>
  sumsOf(blocks.filter(({ time }) => time >= from && time < to));

/**
 * The sums of each day (UTC) with a sale, the earliest day first. Block times go backwards, so a higher block may be of
 * an earlier day.
 */
export function sumsByDay(blocks: readonly SoldInBlock[]): DaySums[] {
  const byDay = new Map<number, SaleSums>();
  for (const block of blocks) {
    const day = Math.floor(block.time / daySeconds);
    byDay.set(day, plus(byDay.get(day) ?? noSales, sumsOfBlock(block)));
  }
  return [...byDay].sort(([one], [other]) => one - other).map(([day, sums]) => ({ day, ...sums }));
}

function sumsOfBlock(block: SoldInBlock): SaleSums {
  const { washSales, volume, washVolume, lowest } = block;
  return { sales: salesIn(block) - washSales, volume, washSales, washVolume, lowest };
}

export function plus(one: SaleSums, other: SaleSums): SaleSums {
  return {
    sales: one.sales + other.sales,
    volume: one.volume + other.volume,
    washSales: one.washSales + other.washSales,
    washVolume: one.washVolume + other.washVolume,
    lowest: lower(one.lowest, other.lowest),
  };
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
