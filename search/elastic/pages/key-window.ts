import { allOf, anyOf, type Clause } from '#search/elastic/server/clause.ts';

/** Inscriptions with keys from `from` to below `to`. */
export interface KeyWindow {
  readonly from: number;
  readonly to: number;
}

/** Exceeds every key, so an end of this value cuts nothing. */
export const keysEnd = 2 ** 31 - 1;

export const allKeys: KeyWindow = { from: 0, to: keysEnd };

export const isEmptyWindow = ({ from, to }: KeyWindow): boolean => from >= to;

/** Whether a document can have inscriptions on both sides of an end of the window. */
export const isCut = ({ from, to }: KeyWindow): boolean => from > 0 || to < keysEnd;

export const overlapOf = (a: KeyWindow, b: KeyWindow): KeyWindow => ({
  from: Math.max(a.from, b.from),
  to: Math.min(a.to, b.to),
});

/** The clauses for a field with values in the window. Empty if the window contains every key. */
export const fieldIn = (field: string, { from, to }: KeyWindow): Clause[] => [
  ...(from > 0 ? [{ range: { [field]: { gte: from } } }] : []),
  ...(to < keysEnd ? [{ range: { [field]: { lt: to } } }] : []),
];

/** Matches documents that may have keys in the window, because their range of keys overlaps it. */
export const touching = ({ from, to }: KeyWindow): Clause[] => [
  ...fieldIn('lastKey', { from, to: keysEnd }),
  ...fieldIn('firstKey', { from: 0, to }),
];

/** Documents with all of their keys in the window. */
const inside = ({ from, to }: KeyWindow): Clause[] => [
  ...fieldIn('firstKey', { from, to: keysEnd }),
  ...fieldIn('lastKey', { from: 0, to }),
];

/** Documents that overlap the window and reach beyond one of its ends. */
export function cutBy(window: KeyWindow): Clause[] {
  const ends = [
    ...fieldIn('firstKey', { from: 0, to: window.from > 0 ? window.from : keysEnd }),
    ...fieldIn('lastKey', { from: window.to < keysEnd ? window.to : 0, to: keysEnd }),
  ];
  return [...touching(window), anyOf(ends)];
}

/**
 * Matches documents with inscriptions in the window. If the window cuts a document, each of its inscriptions is
 * checked.
 */
export function having(window: KeyWindow): Clause[] {
  if (!isCut(window)) return [];
  const nested = { nested: { path: 'member', query: allOf(fieldIn('member.key', window)) } };
  const cut = allOf([...cutBy(window), nested]);
  return [anyOf([allOf(inside(window)), cut])];
}

export type Aggregations = Readonly<Record<string, unknown>>;

/** Aggregates the inscriptions inside the window, each of which is one nested document. */
export const membersIn = (window: KeyWindow, aggs: Aggregations): Clause => ({
  nested: { path: 'member' },
  aggs: { inside: { filter: allOf(fieldIn('member.key', window)), aggs } },
});

export type MembersAnswer<Inside> = { readonly inside: Inside & { readonly doc_count: number } };

const sum = { sum: { field: 'count' } };

/**
 * Counts the inscriptions in a window. Whole documents have their count. Only documents that the window cuts are
 * counted inscription by inscription. Use it as the `aggs` of a request or a bucket.
 */
export function countIn(window: KeyWindow): Aggregations {
  if (!isCut(window)) return { sum };
  return {
    whole: { filter: allOf(inside(window)), aggs: { sum } },
    cut: { filter: allOf(cutBy(window)), aggs: { members: membersIn(window, {}) } },
  };
}

interface Sum {
  readonly value: number;
}

/** The answer to `countIn`. */
export interface CountAnswer {
  readonly sum?: Sum;
  readonly whole?: { readonly sum: Sum };
  readonly cut?: { readonly members: MembersAnswer<unknown> };
}

export const countOf = (counts: CountAnswer | undefined): number =>
  (counts?.sum?.value ?? 0) + (counts?.whole?.sum.value ?? 0) + (counts?.cut?.members.inside.doc_count ?? 0);

/**
 * Splits the inscriptions of a window into ranges of keys. `documents` splits whole documents by their first keys,
 * because no document belongs to two spans. `members` splits the documents that the window cuts.
 */
export function spansIn(window: KeyWindow, spanKeys: number): Aggregations {
  const spansOf = (field: string, aggs: Aggregations): Aggregations => ({
    spans: { histogram: { field, interval: spanKeys, min_doc_count: 1 }, aggs },
  });
  if (!isCut(window)) return spansOf('firstKey', { sum });
  return {
    whole: { filter: allOf(inside(window)), aggs: spansOf('firstKey', { sum }) },
    cut: { filter: allOf(cutBy(window)), aggs: { members: membersIn(window, spansOf('member.key', {})) } },
  };
}

interface Spans {
  readonly spans: {
    readonly buckets: readonly { readonly key: number; readonly doc_count: number; readonly sum?: Sum }[];
  };
}

/** The answer to `spansIn`. */
export interface SpansAnswer {
  readonly spans?: Spans['spans'];
  readonly whole?: Spans;
  readonly cut?: { readonly members: MembersAnswer<Spans> };
}

/** Inscriptions by the first key of their span, ascending. */
export function countsBySpan({ spans, whole, cut }: SpansAnswer): [firstKey: number, count: number][] {
  const counts = new Map<number, number>();
  const buckets = [spans, whole?.spans, cut?.members.inside.spans].flatMap((one) => one?.buckets ?? []);
  for (const bucket of buckets) {
    counts.set(bucket.key, (counts.get(bucket.key) ?? 0) + (bucket.sum?.value ?? bucket.doc_count));
  }
  return [...counts].toSorted(([a], [b]) => a - b);
}
