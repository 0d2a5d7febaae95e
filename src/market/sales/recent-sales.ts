import type { ClientBase } from 'pg';
import { heightsOfDays } from '#chain/blocks/block-days.queries.ts';
import { isBlockIndexed } from '#chain/blocks/index-tip.queries.ts';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { daySeconds } from '#kernel/primitives/day.ts';
import { isNotOurs, sumsOfSales } from './sale-lists.ts';
import { type DaySums, noSales, plus, type SaleSums } from './sale-sums.ts';

/** The spans of time that the market counts, in seconds before the last block. */
export const periodSeconds = { day: daySeconds, week: 7 * daySeconds, month: 30 * daySeconds } as const;

export type Period = keyof typeof periodSeconds;
export type PeriodSums = Readonly<Record<Period, SaleSums>>;

export const noPeriodSales: PeriodSums = { day: noSales, week: noSales, month: noSales };

/** Sums of sales in blocks whose time is not more than a period before that of the last one. */
export interface RecentSums {
  /** Imports with a sale, by slug. An item of several imports counts for each. */
  readonly imports: ReadonlyMap<string, PeriodSums>;
  /** All inscriptions, in a collection or not. */
  readonly all: PeriodSums;
  /** The same for each day (UTC) of the longest period that has a sale, the earliest first. */
  readonly days: readonly DaySums[];
}

/** The sales of one block, and those of each import among them. */
interface RecentBlock {
  readonly height: number;
  readonly time: number;
  readonly all: SaleSums;
  readonly imports: readonly (SaleSums & { readonly slug: string })[];
}

interface Kept {
  readonly tip: Tip;
  readonly moment: Moment;
  /** Blocks of earlier times are left out, in Unix seconds. */
  readonly since: number;
  readonly blocks: readonly RecentBlock[];
  readonly sums: RecentSums;
}

interface Moment {
  readonly epoch: number;
  readonly imports: string;
  /**
   * Sales up to here are classified again by other rules; null: all have the same rules, or no block of the longest
   * period has new rows yet. The pass takes hours to reach it: until then its sales do not change. Block times go
   * backwards by hours: a day.
   */
  readonly remadeTo: number | null;
  /** Time of the tip. */
  readonly time: number;
}

/**
 * Blocks of one statement. The busiest ones sold items of some forty imports each, so a part is 6,000 rows: 10 ms of
 * the event loop.
 */
const blocksEach = 144;
/** The busiest week of mainnet had 200,000 sales. One day of it takes less than a second. */
const walkMs = 10_000;
/** New blocks that any request reads: some 20 ms. More is a walk. */
const newBlocksMax = 12;

/**
 * Reads the recent sales of the market by the times of blocks. No clock counts, so all answers of one tip agree, and
 * one walk serves them all. The sums of each block are kept, so those of the next tip need only its new blocks.
 */
export class RecentSales {
  #kept: Kept | null = null;

  /**
   * Reads the sums. Null: sales are not indexed, or not yet of all blocks. Postgres ends a walk that takes too long
   * (57014).
   *
   * @param mayWalk false: only kept sums, and some new blocks; `'walk'` if they do not suffice
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

  /** The kept sums, if they are of the chain, the imports and the rules of this snapshot. */
  async #keptOf(client: ClientBase, tip: Tip, moment: Moment): Promise<Kept | null> {
    const kept = this.#kept;
    if (kept === null || kept.tip.height > tip.height || kept.tip.undoEpoch !== tip.undoEpoch) return null;
    const { epoch, imports, remadeTo } = kept.moment;
    if (epoch !== moment.epoch || imports !== moment.imports || remadeTo !== moment.remadeTo) return null;
    // blocks that were left out are part of the period again
    if (moment.time - periodSeconds.month < kept.since) return null;
    return (await isBlockIndexed(client, kept.tip.height, Buffer.from(kept.tip.hash))) ? kept : null;
  }
}

/** The sums of a tip, from its new blocks and the kept sums. */
async function grown(client: ClientBase, kept: Kept | null, tip: Tip, moment: Moment): Promise<Kept> {
  // a day more: the next tip may be earlier than this one
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

/** @param since Unix seconds */
async function firstHeight(client: ClientBase, since: number): Promise<number> {
  // a day earlier: times of blocks go backwards by hours, and each block's own time is compared
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

/** @param now the time of the last block */
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

/** @param age of the block, in seconds before the last one */
function withSales(sums: PeriodSums, sold: SaleSums, age: number): PeriodSums {
  const { day, week, month } = sums;
  return {
    day: age <= periodSeconds.day ? plus(day, sold) : day,
    week: age <= periodSeconds.week ? plus(week, sold) : week,
    month: age <= periodSeconds.month ? plus(month, sold) : month,
  };
}
