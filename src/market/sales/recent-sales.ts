import type { ClientBase } from 'pg';
import { heightsOfDays } from '#chain/blocks/block-days.queries.ts';
import { isBlockIndexed } from '#chain/blocks/index-tip.queries.ts';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { daySeconds } from '#kernel/primitives/day.ts';
import { isNotOurs, sumsOfSales } from './sale-lists.ts';
import { type DaySums, noSales, plus, type SaleSums } from './sale-sums.ts';

/** The periods for which the market sums sales, in seconds before the last block. */
export const periodSeconds = { day: daySeconds, week: 7 * daySeconds, month: 30 * daySeconds } as const;

export type Period = keyof typeof periodSeconds;
export type PeriodSums = Readonly<Record<Period, SaleSums>>;

export const noPeriodSales: PeriodSums = { day: noSales, week: noSales, month: noSales };

/**
 * Sums of sales for each period. A period includes the blocks whose time is at most the period's length before the time
 * of the last block.
 */
export interface RecentSums {
  /**
   * Sums of the imports with a sale, by slug. A sale of an item of several imports counts for each of these imports.
   */
  readonly imports: ReadonlyMap<string, PeriodSums>;
  /** Sums of all inscriptions, in a collection or not. */
  readonly all: PeriodSums;
  /** Sums of all inscriptions for each day (UTC) with a sale in the longest period, the earliest day first. */
  readonly days: readonly DaySums[];
}

/** Sums of the sales of one block, for all sales and for each import. */
interface RecentBlock {
  readonly height: number;
  readonly time: number;
  readonly all: SaleSums;
  readonly imports: readonly (SaleSums & { readonly slug: string })[];
}

interface Kept {
  readonly tip: Tip;
  readonly moment: Moment;
  /** Time in Unix seconds. Blocks with an earlier time are left out. */
  readonly since: number;
  readonly blocks: readonly RecentBlock[];
  readonly sums: RecentSums;
}

interface Moment {
  readonly epoch: number;
  readonly imports: string;
  /**
   * Height up to which sales have been reclassified by other rules. Null if all sales have the same rules, or no block
   * of the longest period has new rows yet. The pass takes hours to reach that period, and the period's sales do not
   * change until then. One day is added to the period, because block times can go backwards by hours.
   */
  readonly remadeTo: number | null;
  /** Time of the tip, in Unix seconds. */
  readonly time: number;
}

/**
 * Maximum number of blocks of one statement. The busiest blocks sold items of some forty imports each, so a part has at
 * most 6,000 rows. These rows take 10 ms of the event loop.
 */
const blocksEach = 144;
/**
 * How long a walk may take, in ms. The busiest week of mainnet had 200,000 sales. Reading one day of that week takes
 * less than a second.
 */
const walkMs = 10_000;
/** Maximum number of new blocks that any request reads. Reading them takes some 20 ms. Reading more is a walk. */
const newBlocksMax = 12;

/**
 * Sums of the recent sales of the market, by the times of blocks. The sums do not depend on a clock, so all responses
 * for one tip agree, and need only one walk. The sums of each block are kept, so the sums of the next tip need only the
 * new blocks.
 */
export class RecentSales {
  #kept: Kept | null = null;

  /**
   * Reads the sums. Returns null if sales are not indexed, or not yet for all blocks. Postgres ends a walk that takes
   * too long (57014).
   *
   * @param mayWalk if false, only kept sums and some new blocks are read; the result is `'walk'` if they do not suffice
   */
  async read(client: ClientBase, tip: Tip, mayWalk: boolean): Promise<RecentSums | null | 'walk'> {
    if (!(await isComplete(client, 'sales'))) return null;
    const moment = await momentOf(client, tip);
    const kept = await this.#keptOf(client, tip, moment);
    if (kept?.tip.height === tip.height) return kept.sums;
    if (kept === null || tip.height - kept.tip.height > newBlocksMax) {
      if (!mayWalk) return 'walk';
      await client.query(`SET LOCAL statement_timeout = ${walkMs}`);
    }
    this.#kept = await grown(client, kept, tip, moment);
    return this.#kept.sums;
  }

  /** The kept sums, if they match the chain, the imports and the rules of this snapshot. Returns null otherwise. */
  async #keptOf(client: ClientBase, tip: Tip, moment: Moment): Promise<Kept | null> {
    const kept = this.#kept;
    if (kept === null || kept.tip.height > tip.height || kept.tip.undoEpoch !== tip.undoEpoch) return null;
    const { epoch, imports, remadeTo } = kept.moment;
    if (epoch !== moment.epoch || imports !== moment.imports || remadeTo !== moment.remadeTo) return null;
    // the tip has an earlier time, so blocks that were left out are part of the period again
    if (moment.time - periodSeconds.month < kept.since) return null;
    return (await isBlockIndexed(client, kept.tip.height, Buffer.from(kept.tip.hash))) ? kept : null;
  }
}

/** The sums of a tip, from the kept sums and the new blocks. */
async function grown(client: ClientBase, kept: Kept | null, tip: Tip, moment: Moment): Promise<Kept> {
  // keep one day more, because the next tip may have an earlier time than this one
  const since = Math.max(kept?.since ?? 0, moment.time - periodSeconds.month - daySeconds);
  const from = kept === null ? await firstHeight(client, since) : kept.tip.height + 1;
  const added = await readBlocks(client, from, tip.height);
  const blocks = [...(kept?.blocks ?? []), ...added].filter(({ time }) => time >= since);
  return { tip, moment, since, blocks, sums: recentSums(blocks, moment.time) };
}

async function momentOf(client: ClientBase, { height }: Tip): Promise<Moment> {
  const { rows } = await client.query<Moment>(
    `SELECT s.derived_epoch AS epoch, b.time::float8 AS time,
       (SELECT d.tip_height FROM chain.derived_tables d JOIN chain.blocks r ON r.height = d.tip_height
        WHERE d.name = 'sales' AND d.is_remade AND r.time >= b.time - ${periodSeconds.month + daySeconds}) AS "remadeTo",
       (SELECT concat(count(*), ' ', max(revision)) FROM service.market_collections) AS imports
     FROM chain.state s JOIN chain.blocks b ON b.height = $1`,
    [height],
  );
  const [moment] = rows;
  if (moment === undefined) throw new RangeError(`block ${height} is the tip and does not exist`);
  return moment;
}

/**
 * Height from which blocks may have a time of at least `since`.
 *
 * @param since time in Unix seconds
 */
async function firstHeight(client: ClientBase, since: number): Promise<number> {
  // begin one day earlier, because block times go backwards by hours; each block's own time is compared later
  const [first = 0] = (await heightsOfDays(client, [Math.floor(since / daySeconds) - 1])) ?? [];
  return first;
}

async function readBlocks(client: ClientBase, from: number, to: number): Promise<RecentBlock[]> {
  const blocks: RecentBlock[] = [];
  for (let first = from; first <= to; first += blocksEach)
    blocks.push(...(await readPart(client, first, Math.min(to, first + blocksEach - 1))));
  return blocks;
}

async function readPart(client: ClientBase, from: number, to: number): Promise<RecentBlock[]> {
  const sums = `count(*) FILTER (WHERE NOT s.wash)::integer AS sales, ${sumsOfSales}`;
  const { rows: all } = await client.query<SaleSums & { readonly height: number; readonly time: number }>(
    `SELECT s.height, b.time::float8 AS time, ${sums}
     FROM chain.sales s JOIN chain.blocks b USING (height)
     WHERE s.height BETWEEN $1 AND $2 AND ${isNotOurs} GROUP BY s.height, b.time ORDER BY s.height`,
    [from, to],
  );
  if (all.length === 0) return [];
  const { rows } = await client.query<SaleSums & { readonly height: number; readonly slug: string }>(
    `SELECT s.height, m.slug, ${sums}
     FROM chain.sales s JOIN chain.inscriptions i ON i.key = s.key
     JOIN service.market_items m ON m.txid = i.txid AND m.index = i.index
     WHERE s.height BETWEEN $1 AND $2 AND ${isNotOurs} GROUP BY s.height, m.slug`,
    [from, to],
  );
  const imports = Map.groupBy(rows, ({ height }) => height);
  return all.map(({ height, time, ...of }) => ({
    height,
    time,
    all: of,
    imports: imports.get(height) ?? [],
  }));
}

/**
 * Sums the sales of these blocks for each period.
 *
 * @param now time of the last block, in Unix seconds
 */
function recentSums(blocks: readonly RecentBlock[], now: number): RecentSums {
  const imports = new Map<string, PeriodSums>();
  const days = new Map<number, SaleSums>();
  let all = noPeriodSales;
  for (const block of blocks.filter(({ time }) => now - time <= periodSeconds.month)) {
    const { time } = block;
    all = withSales(all, block.all, now - time);
    const day = Math.floor(time / daySeconds);
    days.set(day, plus(days.get(day) ?? noSales, block.all));
    for (const sold of block.imports)
      imports.set(sold.slug, withSales(imports.get(sold.slug) ?? noPeriodSales, sold, now - time));
  }
  const byDay = [...days].sort(([one], [other]) => one - other).map(([day, sums]) => ({ day, ...sums }));
  return { imports, all, days: byDay };
}

/**
 * Adds the sales of a block to the periods that contain the block.
 *
 * @param age seconds between the block and the last block
 */
function withSales(sums: PeriodSums, sold: SaleSums, age: number): PeriodSums {
  const { day, week, month } = sums;
  return {
    day: age <= periodSeconds.day ? plus(day, sold) : day,
    week: age <= periodSeconds.week ? plus(week, sold) : week,
    month: age <= periodSeconds.month ? plus(month, sold) : month,
  };
}
