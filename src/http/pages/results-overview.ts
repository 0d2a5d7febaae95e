import type pg from 'pg';
import { heightsOfDays } from '#chain/blocks/block-days.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { SearchFacets } from '#kernel/contracts/search-engine.ts';
import type { ResultsView } from '#web/pages/results.page.ts';
import type { Bar } from '#web/parts/chart.ts';
import { daySpans, totalIn } from './day-spans.ts';

type Parameters = Readonly<Record<string, string>>;

/** The counts of a search for the search's page, with links that restrict the search. */
export async function overviewOf(
  pool: pg.Pool,
  facets: Omit<SearchFacets, 'tip'> | null,
  parameters: Parameters,
  signal: AbortSignal,
): Promise<ResultsView['overview']> {
  if (facets === null) return null;
  const { types, otherTypes, days } = facets;
  return { types, otherTypes, bars: await barsOf(pool, days, parameters, signal) };
}

/** Equal spans of days from the first to the last match, each with a link to its blocks. */
async function barsOf(
  pool: pg.Pool,
  days: SearchFacets['days'],
  parameters: Parameters,
  signal: AbortSignal,
): Promise<Bar[]> {
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  if (first === undefined || last === undefined || first === last) return [];
  const spans = daySpans(first, last);
  const starts = [...spans.map((span) => span.first), last + 1];
  const heights = await withSnapshot(pool, ({ client }) => heightsOfDays(client, starts), signal);
  return spans.map((span, index) => ({
    label: span.label,
    count: totalIn(span, days, ({ count }) => count),
    href: heights && linkTo(parameters, heights[index], heights[index + 1]),
  }));
}

/**
 * A link to the same search, restricted to the blocks between two heights and within the search's own range. `null` if
 * no blocks are left.
 */
function linkTo(parameters: Parameters, start: number | undefined, end: number | undefined): string | null {
  if (start === undefined || end === undefined) return null;
  const from = Math.max(start, Number(parameters['from'] ?? 0));
  const to = Math.min(end - 1, Number(parameters['to'] ?? end));
  if (from > to) return null;
  const narrowed = { ...parameters, from: String(from), to: String(to) };
  return `/?${new URLSearchParams(narrowed).toString()}`;
}
