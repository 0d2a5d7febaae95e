import { type KeyRange, type KeyWindow, windowOf } from './page-window.ts';
import type { ReadMoment } from './read-session.ts';
import { spanKeys } from './search-index.ts';
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

/** Documents that a page is read from at most; pages that end behind so many inscriptions are looked for by counts. */
const hitsMax = 1000;
/** Ranges that a window is divided into: one round narrows a span of 2^22 keys to 4,096, the next to 4. */
const rangesMax = 1024;
/** A window of so many matches is read as it is: a page of 1,000 and what its first and last range hold beside it. */
const windowKeysMax = 4000;

/**
 * The page of the inscriptions of documents that satisfy all clauses, and how many inscriptions these are together: the
 * sum of what the documents count. Of the first pages the keys come with the same answer, from the documents with the
 * least first keys. For a deep page the keys between which it lies are found by counting, span by span, then in the
 * spans alone that it touches.
 */
export async function readPage(
  moment: ReadMoment,
  clauses: readonly Clause[],
  slice: Slice,
): Promise<MatchingPage> {
  const end = slice.offset + slice.limit;
  return end <= hitsMax ? readFirst(moment, clauses, slice) : readDeep(moment, clauses, slice);
}

interface FirstAnswer {
  readonly hits: { readonly hits: readonly { readonly fields: { readonly keys: readonly number[] } }[] };
  readonly aggregations: { readonly total: { readonly value: number } };
}

async function readFirst(
  moment: ReadMoment,
  clauses: readonly Clause[],
  { offset, limit }: Slice,
): Promise<MatchingPage> {
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

async function readDeep(moment: ReadMoment, clauses: readonly Clause[], slice: Slice): Promise<MatchingPage> {
  const spans = await countSpans(moment, clauses);
  const totalItems = spans.reduce((sum, { count }) => sum + count, 0);
  let window = windowOf(spans, 0, slice);
  while (window !== null && window.count > windowKeysMax) {
    window = windowOf(await countRanges(moment, clauses, window), window.before, slice);
  }
  if (window === null) return { keys: [], totalItems };
  const keys = await readKeys(moment, clauses, window);
  const from = slice.offset - window.before;
  return { keys: keys.slice(Math.max(0, from), from + slice.limit), totalItems };
}

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

async function countSpans(moment: ReadMoment, clauses: readonly Clause[]): Promise<KeyRange[]> {
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
  moment: ReadMoment,
  clauses: readonly Clause[],
  { from, to }: KeyWindow,
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

async function countRanges(
  moment: ReadMoment,
  clauses: readonly Clause[],
  window: KeyWindow,
): Promise<KeyRange[]> {
  const interval = Math.ceil((window.to - window.from) / rangesMax);
  const buckets = await aggregateMembers(moment, clauses, window, {
    histogram: { field: 'member.key', interval, offset: window.from % interval, min_doc_count: 1 },
  });
  return buckets.map(({ key, doc_count: count }) => ({ from: key, to: key + interval, count }));
}

async function readKeys(
  moment: ReadMoment,
  clauses: readonly Clause[],
  window: KeyWindow,
): Promise<number[]> {
  const buckets = await aggregateMembers(moment, clauses, window, {
    terms: { field: 'member.key', size: windowKeysMax, order: { _key: 'asc' } },
  });
  return buckets.map(({ key }) => key);
}
