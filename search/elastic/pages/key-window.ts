import { allOf, anyOf, type Clause } from '#search/elastic/server/clause.ts';

/** Inscriptions with keys from `from` to below `to`. */
export interface KeyWindow {
  readonly from: number;
  readonly to: number;
}

/** No key is as large: an end of a window that cuts nothing. */
export const keysEnd = 2 ** 31 - 1;

export const allKeys: KeyWindow = { from: 0, to: keysEnd };

export const isEmptyWindow = ({ from, to }: KeyWindow): boolean => from >= to;

/** Whether documents may have inscriptions on both sides of an end of the window. */
export const isCut = ({ from, to }: KeyWindow): boolean => from > 0 || to < keysEnd;

export const overlapOf = (a: KeyWindow, b: KeyWindow): KeyWindow => ({
  from: Math.max(a.from, b.from),
  to: Math.min(a.to, b.to),
});

/** The clauses of a field with values in the window; none where it has all. */
export const fieldIn = (field: string, { from, to }: KeyWindow): Clause[] => [
  ...(from > 0 ? [{ range: { [field]: { gte: from } } }] : []),
  ...(to < keysEnd ? [{ range: { [field]: { lt: to } } }] : []),
];

/** The documents whose keys do not all lie on one side of the window: they may yet have none in it. */
export const touching = ({ from, to }: KeyWindow): Clause[] => [
  ...fieldIn('lastKey', { from, to: keysEnd }),
  ...fieldIn('firstKey', { from: 0, to }),
];

/** The documents that have all of their keys in the window. */
const inside = ({ from, to }: KeyWindow): Clause[] => [
  ...fieldIn('firstKey', { from, to: keysEnd }),
  ...fieldIn('lastKey', { from: 0, to }),
];

/** The documents that touch the window and reach over an end of it. */
export function cutBy(window: KeyWindow): Clause[] {
  const ends = [
    ...fieldIn('firstKey', { from: 0, to: window.from > 0 ? window.from : keysEnd }),
    ...fieldIn('lastKey', { from: window.to < keysEnd ? window.to : 0, to: keysEnd }),
  ];
  return [...touching(window), anyOf(ends)];
}

/** The documents with inscriptions in the window. Those that are cut are looked at one inscription after the other. */
export function having(window: KeyWindow): Clause[] {
  if (!isCut(window)) return [];
  const nested = { nested: { path: 'member', query: allOf(fieldIn('member.key', window)) } };
  const cut = allOf([...cutBy(window), nested]);
  return [anyOf([allOf(inside(window)), cut])];
}

export type Aggregations = Readonly<Record<string, unknown>>;

/** Aggregates the inscriptions of documents that lie in the window, a nested document each. */
export const membersIn = (window: KeyWindow, aggs: Aggregations): Clause => ({
  nested: { path: 'member' },
  aggs: { inside: { filter: allOf(fieldIn('member.key', window)), aggs } },
});

export type MembersAnswer<Inside> = { readonly inside: Inside & { readonly doc_count: number } };

const sum = { sum: { field: 'count' } };

/**
 * Counts inscriptions in a window: whole documents say how many they have, and of the few that are cut each inscription is looked
 * at. To be used as `aggs`, of a request or a bucket.
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

/** What `countIn` is answered. */
export interface CountAnswer {
  readonly sum?: Sum;
  readonly whole?: { readonly sum: Sum };
  readonly cut?: { readonly members: MembersAnswer<unknown> };
}

export const countOf = (counts: CountAnswer | undefined): number =>
  (counts?.sum?.value ?? 0) + (counts?.whole?.sum.value ?? 0) + (counts?.cut?.members.inside.doc_count ?? 0);

/**
 * Divides the inscriptions in a window by ranges of their keys: `documents` takes whole documents apart by their first keys, as none
 * reaches over the border of a span, and `members` those that are cut.
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

/** What `spansIn` is answered. */
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
