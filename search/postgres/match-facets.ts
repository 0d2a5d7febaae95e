import { nextTurn } from '#kernel/concurrency/turns.ts';
import { facetTypesMax, type SearchFacets } from '#kernel/contracts/search-engine.ts';
import { typeNameBytes } from '#search/segments/column-queries.ts';
import type { DayRun } from './block-days.ts';
import { eachBit } from './id-set.ts';
import type { KeyColumns } from './key-columns.ts';
import { countOf, countRange, type PartMatches } from './key-matches.ts';

/** The number of matches by type and by day. */
export async function countFacets(
  columns: KeyColumns,
  matches: readonly PartMatches[],
  days: readonly DayRun[],
): Promise<Omit<SearchFacets, 'tip'>> {
  const totalItems = countOf(matches);
  const counts = await countTypes(columns, matches);
  const types = [...counts]
    .map(([contentType, count]) => ({ contentType, count }))
    .toSorted((a, b) => b.count - a.count || compareTypes(a.contentType, b.contentType))
    .slice(0, facetTypesMax);
  const listed = types.reduce((sum, { count }) => sum + count, 0);
  return { totalItems, types, otherTypes: totalItems - listed, days: countDays(matches, days) };
}

/** Compares by code points, which gives the order of UTF-8. null comes first. */
function compareTypes(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Maximum number of parts counted in one turn of the event loop: a million keys, some 10 ms. */
const partsATurn = 16;

/** Counts matches by type. Types that are too long to be named are omitted. */
async function countTypes(
  columns: KeyColumns,
  matches: readonly PartMatches[],
): Promise<Map<string | null, number>> {
  const counts = new Map<string | null, number>();
  for (const [at, { part, bits }] of matches.entries()) {
    if (at % partsATurn === partsATurn - 1) await nextTurn();
    const { names, codes } = await columns.types(part);
    const byCode = new Uint32Array(names.length + 1);
    eachBit(bits, (index) => {
      const code = codes[index]!;
      byCode[code] = byCode[code]! + 1;
    });
    for (const [code, count] of byCode.entries()) {
      const name = code === 0 ? null : (names[code - 1] as Buffer);
      if (count === 0 || name?.length === typeNameBytes) continue;
      const type = name === null ? null : utf8(name);
      counts.set(type, (counts.get(type) ?? 0) + count);
    }
  }
  return counts;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function utf8(bytes: Buffer): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

function countDays(
  matches: readonly PartMatches[],
  runs: readonly DayRun[],
): { day: number; count: number }[] {
  const days = new Map<number, number>();
  let at = 0;
  for (const one of matches) {
    // runs and parts ascend, so the runs of this part are consecutive
    while (at > 0 && (runs[at] as DayRun).firstKey > one.part.firstKey) at--;
    while (at + 1 < runs.length && (runs[at + 1] as DayRun).firstKey <= one.part.firstKey) at++;
    for (; at < runs.length; at++) {
      const { firstKey, day } = runs[at] as DayRun;
      if (firstKey >= one.part.nextKey) break;
      const count = countRange([one], firstKey, runs[at + 1]?.firstKey ?? Infinity);
      if (count > 0) days.set(day, (days.get(day) ?? 0) + count);
    }
    at = Math.max(0, at - 1);
  }
  return [...days].map(([day, count]) => ({ day, count })).toSorted((a, b) => a.day - b.day);
}
