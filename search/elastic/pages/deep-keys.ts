import { type InscriptionKey, trustedInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { KeyList, PageSource, Slice } from './key-list.ts';
import { type KeyRange, type PlacedRange, rangeAt } from './key-ranges.ts';
import {
  countsBySpan,
  type KeyWindow,
  type MembersAnswer,
  membersIn,
  overlapOf,
  type SpansAnswer,
  spansIn,
  touching,
} from './key-window.ts';

/**
 * A slice of a list at any depth, and the length of the list. The keys around the slice are found by counting: first
 * span by span, then only in the spans that the slice touches.
 */
export async function readDeepKeys(
  source: PageSource,
  list: KeyList,
  slice: Slice,
): Promise<{ keys: InscriptionKey[]; count: number }> {
  const spans = await countSpans(source, list);
  const count = spans.reduce((sum, span) => sum + span.count, 0);
  const { offset, limit } = ascending(slice, list.order, count);
  if (limit <= 0) return { keys: [], count };
  const counted = new Map<string, Promise<KeyRange[]>>();
  const first = await narrow(source, list, spans, counted, offset);
  const last = await narrow(source, list, spans, counted, offset + limit - 1);
  if (first === null || last === null) return { keys: [], count };
  const skipped = offset - first.before;
  const keys = await readKeys(source, list, { from: first.from, to: last.to }, skipped + limit);
  const found = keys.slice(skipped);
  return { keys: list.order === 'asc' ? found : found.reverse(), count };
}

/** The same slice, counted from the other end of a list of this length and cut at both ends of the list. */
export function ascending({ offset, limit }: Slice, order: 'asc' | 'desc', count: number): Slice {
  const [from, to] =
    order === 'asc'
      ? [offset, Math.min(offset + limit, count)]
      : [Math.max(0, count - offset - limit), count - offset];
  return { offset: from, limit: to - from };
}

/**
 * A range with few matches or with a single key, which contains the match of a rank. Null: the list is shorter.
 * `counted` stores the ranges of each round, because both ends of a page usually share them.
 */
async function narrow(
  source: PageSource,
  list: KeyList,
  spans: readonly KeyRange[],
  counted: Map<string, Promise<KeyRange[]>>,
  rank: number,
): Promise<PlacedRange | null> {
  let range = rangeAt(spans, 0, rank);
  // each round divides the range, so the loop ends at one key at the latest
  while (range !== null && range.count > source.tuning.rangeMatchesMax) {
    const { from, to, before } = range;
    const name = `${from} ${to}`;
    const ranges = counted.get(name) ?? countRanges(source, list, { from, to });
    counted.set(name, ranges);
    range = rangeAt(await ranges, before, rank);
  }
  return range;
}

async function countSpans(
  { moment, tuning: { spanKeys } }: PageSource,
  { clauses, window }: KeyList,
): Promise<KeyRange[]> {
  const { aggregations } = await moment.search<{ aggregations: SpansAnswer }>(
    { size: 0, aggs: spansIn(window, spanKeys) },
    [...clauses, ...touching(window)],
  );
  return countsBySpan(aggregations).map(([from, count]) => ({
    ...overlapOf({ from, to: from + spanKeys }, window),
    count,
  }));
}

interface Bucket {
  readonly key: number;
  readonly doc_count: number;
}

interface KeysAnswer {
  readonly aggregations: {
    readonly members: MembersAnswer<{ readonly keys: { readonly buckets: readonly Bucket[] } }>;
  };
}

/**
 * Counts the inscriptions of a window, each of which is one nested document. The server only reads documents that
 * overlap the window.
 */
async function aggregateKeys(
  { moment }: PageSource,
  { clauses }: KeyList,
  window: KeyWindow,
  keys: Readonly<Record<string, unknown>>,
): Promise<readonly Bucket[]> {
  const { aggregations } = await moment.search<KeysAnswer>(
    { size: 0, aggs: { members: membersIn(window, { keys }) } },
    [...clauses, ...touching(window)],
  );
  return aggregations.members.inside.keys.buckets;
}

async function countRanges(source: PageSource, list: KeyList, window: KeyWindow): Promise<KeyRange[]> {
  const interval = Math.ceil((window.to - window.from) / source.tuning.rangesMax);
  const buckets = await aggregateKeys(source, list, window, {
    histogram: { field: 'member.key', interval, offset: window.from % interval, min_doc_count: 1 },
  });
  return buckets.map(({ key, doc_count: count }) => ({
    from: key,
    to: Math.min(key + interval, window.to),
    count,
  }));
}

async function readKeys(
  source: PageSource,
  list: KeyList,
  window: KeyWindow,
  count: number,
): Promise<InscriptionKey[]> {
  const buckets = await aggregateKeys(source, list, window, {
    terms: { field: 'member.key', size: count, order: { _key: 'asc' } },
  });
  return buckets.map(({ key }) => trustedInscriptionKey(key));
}
