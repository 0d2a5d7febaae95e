import type { ClientBase } from 'pg';
import { daySeconds } from '#kernel/primitives/day.ts';
import type { Height } from '#kernel/primitives/height.ts';

/**
 * Finds the height at which each of some ascending days (UTC, days since 1970) begins. This is the first block whose
 * time is in that day or later. If there is no such block, it is a height above all blocks. Block times ascend except
 * for some hours, so a few blocks around midnight may belong to the day before or after. All days are searched together
 * by bisection, in some 20 short statements. Returns `null` if there are no blocks.
 */
export async function heightsOfDays(client: ClientBase, days: readonly number[]): Promise<number[] | null> {
  const { rows } = await client.query<{ low: number | null; high: number | null }>(
    'SELECT min(height) AS low, max(height) AS high FROM chain.blocks',
  );
  const { low = null, high = null } = rows[0] ?? {};
  if (low === null || high === null) return null;
  const places = days.map(
    (day): DayPlace => ({ seconds: day * daySeconds, low, high: high + 1, found: high + 1 }),
  );
  for (;;) {
    const open = places.filter((place) => place.low < place.high);
    if (open.length === 0) return places.map((place) => place.found);
    const middles = open.map((place) => Math.floor((place.low + place.high) / 2));
    const blocks = await blocksFrom(client, middles);
    for (const [index, place] of open.entries()) halve(place, middles[index]!, blocks[index]);
  }
}

/**
 * The range of heights in which a day begins: from `low` to below `high`. If `found` is set, the day begins exactly
 * there.
 */
interface DayPlace {
  readonly seconds: number;
  low: number;
  high: number;
  found: number;
}

/**
 * Halves the range of a day.
 *
 * @param block the first block from the middle on
 */
function halve(place: DayPlace, middle: number, block: { height: Height; time: number } | undefined): void {
  if (block !== undefined && block.time < place.seconds) {
    place.low = block.height + 1;
    return;
  }
  place.high = middle;
  if (block !== undefined) place.found = block.height;
}

/** Finds the first block at or above each height. The heights themselves may be in a gap. */
async function blocksFrom(
  client: ClientBase,
  heights: readonly number[],
): Promise<{ height: Height; time: number }[]> {
  const { rows } = await client.query<{ height: Height; time: number }>(
    `SELECT b.height, b.time::float8 AS time
       FROM unnest($1::integer[]) WITH ORDINALITY AS wanted (height, place)
      CROSS JOIN LATERAL (
        SELECT height, time FROM chain.blocks WHERE height >= wanted.height ORDER BY height LIMIT 1) AS b
      ORDER BY wanted.place`,
    [heights],
  );
  return rows;
}
