import type { SatRange } from '#kernel/sats/sat-range.ts';

/*
 * Lists of ranges that ascend and have gaps between them. They may have hundreds of thousands of entries (from a file
 * of the operator), and are used for each range of each output. So a list is scanned only once.
 */

/**
 * Sums of the sats before each range, and after the last range. They are computed when a list is first used, and kept
 * as long as the list.
 */
const sumsOf = new WeakMap<readonly SatRange[], Float64Array>();

/** The number of sats of a list within a range. Takes time logarithmic in the list's length. */
export function countInList(list: readonly SatRange[], { start, end }: SatRange): number {
  return Math.max(countBelow(list, end) - countBelow(list, start), 0);
}

/** The sats of a list within a range, ascending. Finding the first sat takes time logarithmic in the list's length. */
export function* listWithin(list: readonly SatRange[], { start, end }: SatRange): Generator<SatRange> {
  for (let at = firstEndingAfter(list, start); at < list.length; at++) {
    const range = list[at];
    if (range === undefined || range.start >= end) return;
    yield { start: Math.max(range.start, start), end: Math.min(range.end, end) };
  }
}

/** The range of a list that contains a sat. `null` if no range contains it. */
export function rangeInList(list: readonly SatRange[], sat: number): SatRange | null {
  const range = list[firstEndingAfter(list, sat)];
  return range !== undefined && range.start <= sat ? range : null;
}

/** The list of all sats in some ranges, which may have any order. Each sat is in the list only once. */
export function listFrom(ranges: readonly SatRange[]): SatRange[] {
  const list: { start: number; end: number }[] = [];
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = list.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else list.push({ start, end });
  }
  return list;
}

function countBelow(list: readonly SatRange[], sat: number): number {
  const at = firstEndingAfter(list, sat);
  const before = sumsBefore(list)[at] ?? 0;
  return before + Math.max(sat - (list[at]?.start ?? sat), 0);
}

/** The index of the first range that ends above a sat. */
function firstEndingAfter(list: readonly SatRange[], sat: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.end ?? 0) <= sat) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sumsBefore(list: readonly SatRange[]): Float64Array {
  const known = sumsOf.get(list);
  if (known !== undefined) return known;
  const sums = new Float64Array(list.length + 1);
  for (const [at, { start, end }] of list.entries()) sums[at + 1] = (sums[at] ?? 0) + end - start;
  sumsOf.set(list, sums);
  return sums;
}
