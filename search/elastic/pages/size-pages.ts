import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Clause } from '#search/elastic/server/clause.ts';
import { ascending } from './deep-keys.ts';
import type { KeyList, PageSource, Slice } from './key-list.ts';
import { isFirstSlice, readKeySlice } from './key-pages.ts';
import { type KeyRange, type PlacedRange, rangeAt } from './key-ranges.ts';
import { type CountAnswer, countIn, countOf, having, isCut, isEmptyWindow, touching } from './key-window.ts';

/** Exceeds the length of every body, because a block has 4,000,000 bytes. */
const sizesEnd = 1 << 22;

/** Lengths from `from` to below `to` bytes, and the number of matches with such a body. */
type SizeRange = KeyRange;

/**
 * A slice of the matches in the order of the lengths of their bodies. Equal lengths are in the order of their keys.
 * Both directions work alike. All inscriptions of a document have bodies of the same length.
 */
export async function readSizeSlice(
  source: PageSource,
  list: KeyList,
  slice: Slice,
): Promise<InscriptionKey[]> {
  if (slice.limit <= 0 || isEmptyWindow(list.window)) return [];
  const isFirst = isFirstSlice(source, slice) && !isCut(list.window);
  return isFirst ? readFirst(source, list, slice) : readDeep(source, list, slice);
}

interface PlacedKey {
  readonly size: number;
  readonly key: InscriptionKey;
}

interface SizedAnswer {
  readonly hits: {
    readonly hits: readonly {
      readonly fields: { readonly keys: readonly InscriptionKey[]; readonly size: readonly number[] };
    }[];
  };
}

/**
 * The inscriptions of the first documents in the order of the list. This works because the first n documents contain
 * the first n inscriptions.
 */
async function readDocuments(
  { moment }: PageSource,
  clauses: readonly Clause[],
  order: KeyList['order'],
  count: number,
): Promise<PlacedKey[]> {
  const { hits } = await moment.search<SizedAnswer>(
    {
      size: count,
      sort: [{ size: order }, { [order === 'asc' ? 'firstKey' : 'lastKey']: order }],
      docvalue_fields: ['keys', 'size'],
    },
    clauses,
  );
  const sign = order === 'asc' ? 1 : -1;
  return hits.hits
    .flatMap(({ fields }) => fields.keys.map((key) => ({ key, size: fields.size[0] ?? 0 })))
    .sort((a, b) => sign * (a.size - b.size || a.key - b.key));
}

async function readFirst(
  source: PageSource,
  { clauses, order }: KeyList,
  { offset, limit }: Slice,
): Promise<InscriptionKey[]> {
  const placed = await readDocuments(source, clauses, order, offset + limit);
  return placed.slice(offset, offset + limit).map(({ key }) => key);
}

/**
 * Counts matches by ranges of lengths, to find the two lengths where the slice begins and ends. These two lengths are
 * paged by key. The lengths between them never have more matches than the slice.
 */
async function readDeep(source: PageSource, list: KeyList, slice: Slice): Promise<InscriptionKey[]> {
  const ranges = await countSizes(source, list, firstBounds(source.tuning.rangesMax));
  const count = ranges.reduce((sum, range) => sum + range.count, 0);
  const { offset, limit } = ascending(slice, list.order, count);
  if (limit <= 0) return [];
  const end = offset + limit;
  const [first, last] = await Promise.all([
    narrow(source, list, ranges, offset),
    narrow(source, list, ranges, end - 1),
  ]);
  if (first === null || last === null) return [];
  const keysOf = (range: PlacedRange): Promise<InscriptionKey[]> => {
    const from = Math.max(0, offset - range.before);
    const sized = [...list.clauses, { term: { size: range.from } }];
    return readKeySlice(
      source,
      { clauses: sized, window: list.window, order: 'asc' },
      { offset: from, limit: Math.min(end - range.before, range.count) - from },
    );
  };
  const isOne = first.from === last.from;
  const parts = await Promise.all([
    keysOf(first),
    isOne ? [] : readBetween(source, list, first, last),
    isOne ? [] : keysOf(last),
  ]);
  const keys = parts.flat();
  return list.order === 'asc' ? keys : keys.reverse();
}

async function readBetween(
  source: PageSource,
  { clauses, window }: KeyList,
  first: PlacedRange,
  last: PlacedRange,
): Promise<InscriptionKey[]> {
  const count = last.before - first.before - first.count;
  if (count <= 0) return [];
  const between = { range: { size: { gt: first.from, lt: last.from } } };
  const placed = await readDocuments(source, [...clauses, between, ...having(window)], 'asc', count);
  return placed.map(({ key }) => key).filter((key) => key >= window.from && key < window.to);
}

/** The length of the match of a rank. Null: there are fewer matches. */
async function narrow(
  source: PageSource,
  list: KeyList,
  ranges: readonly SizeRange[],
  rank: number,
): Promise<PlacedRange | null> {
  let range = rangeAt(ranges, 0, rank);
  while (range !== null && range.to - range.from > 1) {
    const { from, to, before } = range;
    range = rangeAt(
      await countSizes(source, list, boundsIn(from, to, source.tuning.rangesMax)),
      before,
      rank,
    );
  }
  return range;
}

/** Splits lengths into at most `rangesMax` ranges. */
function boundsIn(from: number, to: number, rangesMax: number): number[] {
  const width = Math.ceil((to - from) / rangesMax);
  const bounds: number[] = [];
  for (let bound = from; bound < to; bound += width) bounds.push(bound);
  return [...bounds, to];
}

/**
 * The first ranges of lengths. Most bodies have tens or hundreds of bytes, so half of the ranges are single lengths,
 * and the others grow with the length.
 */
function firstBounds(rangesMax: number): number[] {
  const single = Math.max(1, rangesMax >> 1);
  const bounds = Array.from({ length: single }, (_, size) => size);
  const growth = (sizesEnd / single) ** (1 / Math.max(1, rangesMax - single));
  for (let bound = single; bound < sizesEnd; bound = Math.max(bound + 1, Math.ceil(bound * growth))) {
    bounds.push(bound);
  }
  return [...bounds, sizesEnd];
}

interface SizesAnswer {
  readonly aggregations: {
    readonly sizes: { readonly buckets: readonly (CountAnswer & { from: number; to: number })[] };
  };
}

async function countSizes(
  { moment }: PageSource,
  { clauses, window }: KeyList,
  bounds: readonly number[],
): Promise<SizeRange[]> {
  const [from, to] = [bounds[0] ?? 0, bounds.at(-1) ?? sizesEnd];
  const ranges = bounds.slice(1).map((bound, at) => ({ from: bounds[at]!, to: bound }));
  const { aggregations } = await moment.search<SizesAnswer>(
    { size: 0, aggs: { sizes: { range: { field: 'size', ranges }, aggs: countIn(window) } } },
    [...clauses, ...touching(window), { range: { size: { gte: from, lt: to } } }],
  );
  return aggregations.sizes.buckets.map((bucket) => ({
    from: bucket.from,
    to: bucket.to,
    count: countOf(bucket),
  }));
}
