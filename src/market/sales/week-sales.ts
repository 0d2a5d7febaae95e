import type { ClientBase } from 'pg';
import { heightsOfDays } from '#chain/blocks/block-days.queries.ts';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import { daySeconds } from '#kernel/primitives/day.ts';
import { isNotOurs, sumsOfSales } from './sale-lists.ts';
import type { SaleSums } from './sale-sums.ts';

const weekSeconds = 7 * daySeconds;
/** The busiest week of mainnet had 200,000 sales: a second or two. */
const walkMs = 10_000;

/** The sums of each import with a sale, by slug. */
export type WeekSums = ReadonlyMap<string, SaleSums>;

interface Week {
  /** The moment: tip, derived tables, imports, and how far sales are made anew. */
  readonly name: string;
  readonly sums: WeekSums;
}

interface Moment {
  readonly epoch: number;
  readonly imports: string;
  /**
   * Sales up to here are made anew by other rules; null: all are of the same, or no block of the week has new ones yet.
   * The pass takes hours to come to the week: until then nothing of it changes. Block times go backwards by hours: a
   * day.
   */
  readonly remadeTo: number | null;
  /** Of the tip. */
  readonly time: number;
}

/**
 * What imports sold in blocks whose time is not more than 7 × 24 hours before that of the last one. Of no clock, so all
 * answers of one tip agree,
 * and one walk serves them all.
 */
export class WeekSales {
  #kept: Week | null = null;

  /**
   * Null: sales are not indexed, or not yet of all blocks. Postgres ends a walk that takes too long (57014).
   *
   * @param mayWalk false: only what is kept; `'walk'` where that does not suffice
   */
  async read(client: ClientBase, tip: Tip, mayWalk: boolean): Promise<WeekSums | null | 'walk'> {
    if (!(await isComplete(client, 'sales'))) return null;
    const { epoch, imports, remadeTo, time } = await momentOf(client, tip);
    const name = `${Buffer.from(tip.hash).toString('hex')} ${tip.undoEpoch} ${epoch} ${remadeTo ?? ''} ${imports}`;
    if (this.#kept?.name === name) return this.#kept.sums;
    if (!mayWalk) return 'walk';
    await client.query(`SET LOCAL statement_timeout = ${walkMs}`);
    const sums = await readWeek(client, tip, time - weekSeconds);
    this.#kept = { name, sums };
    return sums;
  }
}

async function momentOf(client: ClientBase, { height }: Tip): Promise<Moment> {
  const { rows } = await client.query<Moment>(
    `SELECT s.derived_epoch AS epoch, b.time::float8 AS time,
       (SELECT d.tip_height FROM chain.derived_tables d JOIN chain.blocks r ON r.height = d.tip_height
        WHERE d.name = 'sales' AND d.is_remade AND r.time >= b.time - ${weekSeconds + daySeconds}) AS "remadeTo",
       (SELECT concat(count(*), ' ', max(revision)) FROM service.market_collections) AS imports
     FROM chain.state s JOIN chain.blocks b ON b.height = $1`,
    [height],
  );
  const [moment] = rows;
  if (moment === undefined) throw new RangeError(`block ${height} is the tip and is not there`);
  return moment;
}

/** @param since Unix seconds */
async function readWeek(client: ClientBase, tip: Tip, since: number): Promise<WeekSums> {
  // a day earlier: times of blocks go backwards by hours, and each block's own time is compared below
  const [first = 0] = (await heightsOfDays(client, [Math.floor(since / daySeconds) - 1])) ?? [];
  const { rows } = await client.query<SaleSums & { readonly slug: string }>(
    `SELECT m.slug, count(*) FILTER (WHERE NOT s.wash)::integer AS sales, ${sumsOfSales}
     FROM chain.sales s JOIN chain.blocks b USING (height) JOIN chain.inscriptions i ON i.key = s.key
     JOIN service.market_items m ON m.txid = i.txid AND m.index = i.index
     WHERE s.height BETWEEN $1 AND $2 AND b.time >= $3 AND ${isNotOurs}
     GROUP BY m.slug`,
    [first, tip.height, since],
  );
  return new Map(rows.map(({ slug, ...sums }) => [slug, sums]));
}
