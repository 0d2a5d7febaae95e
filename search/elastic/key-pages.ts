import type { ElasticTuning } from './elastic-tuning.ts';
import { type KeyRange, type PlacedRange, rangeAt } from './key-ranges.ts';
import type { ReadMoment } from './read-session.ts';
import { type Clause, keysClause } from './text-query.ts';

/** A slice of the matching inscriptions, in the order of their keys. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

export interface MatchingPage {
  readonly keys: readonly number[];
  readonly totalItems: number;
}

/** Whom a page is asked of. */
export interface PageSource {
  readonly moment: ReadMoment;
  readonly clauses: readonly Clause[];
  readonly tuning: ElasticTuning;
}

/**
 * The page of the inscriptions of documents that satisfy all clauses, and how many inscriptions these are together: the
 * sum of what the documents count. Of the first pages the keys come with the same answer, from the documents with the
 * least first keys. For a deep page the keys between which it lies are found by counting, span by span, then in the
 * spans alone that it touches.
 */
export async function readPage(source: PageSource, slice: Slice): Promise<MatchingPage> {
  const isFirst = slice.offset + slice.limit <= source.tuning.hitsMax;
  return isFirst ? readFirst(source, slice) : readDeep(source, slice);
}

interface FirstAnswer {
  readonly hits: { readonly hits: readonly { readonly fields: { readonly keys: readonly number[] } }[] };
  readonly aggregations: { readonly total: { readonly value: number } };
}

async function readFirst({ moment, clauses }: PageSource, { offset, limit }: Slice): Promise<MatchingPage> {
  const { hits, aggregations } = await moment.search<FirstAnswer>(
    {
      size: offset + limit,
      sort: [{ firstKey: 'asc' }],
      _source: false,
      docvalue_fields: ['keys'],
      aggs: { total: { sum: { field: 'count' } } },
    },
    clauses,
  );
  // the n-th least key is in one of the n documents with the least first keys
  const keys = hits.hits.flatMap(({ fields }) => fields.keys).sort((a, b) => a - b);
  return { keys: keys.slice(offset, offset + limit), totalItems: aggregations.total.value };
}

async function readDeep(source: PageSource, { offset, limit }: Slice): Promise<MatchingPage> {
  const spans = await countSpans(source);
  const totalItems = spans.reduce((sum, { count }) => sum + count, 0);
  const end = Math.min(offset + limit, totalItems);
  const counted = new Map<string, Promise<KeyRange[]>>();
  const first = await narrow(source, spans, counted, offset);
  const last = await narrow(source, spans, counted, end - 1);
  if (first === null || last === null) return { keys: [], totalItems };
  const skipped = offset - first.before;
  const keys = await readKeys(source, { from: first.from, to: last.to }, skipped + limit);
  return { keys: keys.slice(skipped), totalItems };
}

/**
 * A range of few matches, or of a single key, that holds the match of a rank; null where there are not so many. Ranges of a round
 * are remembered in `counted`: both ends of a page mostly are in the same ones.
 */
async function narrow(
  source: PageSource,
  spans: readonly KeyRange[],
  counted: Map<string, Promise<KeyRange[]>>,
  rank: number,
): Promise<PlacedRange | null> {
  let range = rangeAt(spans, 0, rank);
  // each round divides the range, so it ends at one key, which is one match
  while (range !== null && range.count > source.tuning.rangeMatchesMax) {
    const { from, to, before } = range;
    const name = `${from} ${to}`;
    const ranges = counted.get(name) ?? countRanges(source, { from, to });
    counted.set(name, ranges);
    range = rangeAt(await ranges, before, rank);
  }
  return range;
}

/** Keys from `from` to below `to`. */
type Keys = Pick<KeyRange, 'from' | 'to'>;

interface Bucket {
  readonly key: number;
  readonly doc_count: number;
}

interface SpansAnswer {
  readonly aggregations: {
    readonly spans: {
      readonly buckets: readonly (Bucket & { readonly total: { readonly value: number } })[];
    };
  };
}

async function countSpans({ moment, clauses, tuning: { spanKeys } }: PageSource): Promise<KeyRange[]> {
  const { aggregations } = await moment.search<SpansAnswer>(
    {
      size: 0,
      aggs: {
        spans: {
          histogram: { field: 'firstKey', interval: spanKeys, min_doc_count: 1 },
          aggs: { total: { sum: { field: 'count' } } },
        },
      },
    },
    clauses,
  );
  return aggregations.spans.buckets.map(({ key, total }) => ({
    from: key,
    to: key + spanKeys,
    count: total.value,
  }));
}

interface MembersAnswer {
  readonly aggregations: {
    readonly members: { readonly within: { readonly keys: { readonly buckets: readonly Bucket[] } } };
  };
}

/** Asks the inscriptions of a window, one nested document each; only documents of its spans are looked at. */
async function aggregateMembers(
  { moment, clauses, tuning: { spanKeys } }: PageSource,
  { from, to }: Keys,
  keys: Readonly<Record<string, unknown>>,
): Promise<readonly Bucket[]> {
  const spanStart = Math.floor(from / spanKeys) * spanKeys;
  const { aggregations } = await moment.search<MembersAnswer>(
    {
      size: 0,
      aggs: {
        members: {
          nested: { path: 'member' },
          aggs: { within: { filter: { range: { 'member.key': { gte: from, lt: to } } }, aggs: { keys } } },
        },
      },
    },
    [...clauses, keysClause(spanStart, to)],
  );
  return aggregations.members.within.keys.buckets;
}

async function countRanges(source: PageSource, window: Keys): Promise<KeyRange[]> {
  const interval = Math.ceil((window.to - window.from) / source.tuning.rangesMax);
  const buckets = await aggregateMembers(source, window, {
    histogram: { field: 'member.key', interval, offset: window.from % interval, min_doc_count: 1 },
  });
  return buckets.map(({ key, doc_count: count }) => ({
    from: key,
    to: Math.min(key + interval, window.to),
    count,
  }));
}

async function readKeys(source: PageSource, window: Keys, count: number): Promise<number[]> {
  const buckets = await aggregateMembers(source, window, {
    terms: { field: 'member.key', size: count, order: { _key: 'asc' } },
  });
  return buckets.map(({ key }) => key);
}
