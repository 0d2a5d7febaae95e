import type { TextMatch } from '#kernel/contracts/search-engine.ts';
import { editsOf } from './words.ts';

/** Whether a word is one that a search looks for; both folded. */
export type WordMatcher = (word: string) => boolean;

/** Tells which words a word of a search finds: the word itself, or for `fuzzy` those that are a few edits away. */
export function wordMatcher(wanted: string, match: TextMatch): WordMatcher {
  const edits = match === 'fuzzy' ? editsOf(wanted) : 0;
  if (edits === 0) return (word) => word === wanted;
  const points = Array.from(wanted);
  // an edit changes the length by one code point, which is one or two units
  const unitsMin = points.length - edits;
  const unitsMax = 2 * (points.length + edits);
  return (word) =>
    word.length >= unitsMin && word.length <= unitsMax && isWithinEdits(points, Array.from(word), edits);
}

/**
 * Whether one of these texts of code points becomes the other by at most so many edits: one put in, left out, changed, or two
 * neighbours swapped, no place edited twice (optimal string alignment).
 */
export function isWithinEdits(a: readonly string[], b: readonly string[], edits: number): boolean {
  if (Math.abs(a.length - b.length) > edits) return false;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let at = 1; at <= a.length; at++) {
    const row = [at];
    let least = at;
    for (let to = 1; to <= b.length; to++) {
      const isEqual = a[at - 1] === b[to - 1];
      let cost = Math.min((last[to] as number) + 1, (row[to - 1] as number) + 1);
      cost = Math.min(cost, (last[to - 1] as number) + (isEqual ? 0 : 1));
      if (at > 1 && to > 1 && a[at - 1] === b[to - 2] && a[at - 2] === b[to - 1])
        cost = Math.min(cost, (before[to - 2] as number) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    // a swap reaches two rows back, and costs one more than what it began with
    if (least > edits && Math.min(...last) > edits - 1) return false;
    before = last;
    last = row;
  }
  return (last[b.length] as number) <= edits;
}
