import type { Gram } from './postings-layout.ts';

/** How needles are looked up in the postings, and the remaining checks of the texts. */
export interface NeedlePlan {
  /**
   * Grams that must all be looked up: the grams of needles of up to three code points. These needles need no other
   * check.
   */
  readonly required: readonly Gram[];
  /** Grams of longer needles, in the best order to look them up. */
  readonly optional: readonly Gram[];
  /**
   * UTF-8 of the needles of more than three code points, longest first. A text with all their grams is then checked for
   * these needles.
   */
  readonly checked: readonly Buffer[];
  /** UTF-8 of all needles, longest first. A text without postings is checked for these needles. */
  readonly all: readonly Buffer[];
  /** Key for caches: equal for equal searches. */
  readonly key: string;
}

/**
 * Yields the indices below `count` in an order whose beginnings are spread evenly: both ends, the middle, the quarters,
 * …
 */
function* spread(count: number): Generator<number> {
  const seen = new Set<number>();
  for (let parts = 1; seen.size < count; parts *= 2) {
    for (let part = 0; part <= parts; part++) {
      const index = Math.round((part * (count - 1)) / parts);
      if (seen.has(index)) continue;
      seen.add(index);
      yield index;
    }
  }
}

/** Maximum number of grams. More grams exclude hardly any more texts. */
const gramsMax = 48;

/** Distinct grams of three code points of a needle, spread over the needle. At most `most`. */
export function spreadGrams(points: readonly number[], most = gramsMax): Gram[] {
  const grams = new Map<string, Gram>();
  for (const at of spread(points.length - 2)) {
    if (grams.size === most) break;
    const gram = points.slice(at, at + 3) as unknown as Gram;
    grams.set(gram.join(), gram);
  }
  return [...grams.values()];
}

/** Takes one gram from each list in turn, first elements first. Each gram is taken once. */
function interleave(lists: readonly (readonly Gram[])[]): Gram[] {
  const grams = new Map<string, Gram>();
  const longest = Math.max(0, ...lists.map((list) => list.length));
  for (let at = 0; at < longest; at++) {
    for (const list of lists) {
      const gram = list[at];
      if (gram !== undefined) grams.set(gram.join(), gram);
    }
  }
  return [...grams.values()].slice(0, gramsMax);
}

/**
 * Plans a query of folded needles. A needle that is part of another needle adds nothing and is omitted. Null: a needle
 * can occur in no text, because it has a lone surrogate, which UTF-8 cannot encode.
 */
export function planNeedles(folded: readonly string[]): NeedlePlan | null {
  if (folded.some((needle) => !needle.isWellFormed())) return null;
  const distinct = [...new Set(folded)].toSorted((a, b) => b.length - a.length);
  const needles = distinct.filter(
    (needle, index) => !distinct.some((other, before) => before < index && other.includes(needle)),
  );
  const points = needles.map((needle) =>
    Array.from(needle, (character) => character.codePointAt(0) as number),
  );
  const utf8 = needles.map((needle) => Buffer.from(needle));
  const short = points.filter((list) => list.length <= 3);
  return {
    required: short.map((list) => [...Array<number>(3 - list.length).fill(0), ...list] as unknown as Gram),
    optional: interleave(points.filter((list) => list.length > 3).map((list) => spreadGrams(list))),
    checked: utf8.filter((_, index) => (points[index] as number[]).length > 3),
    all: utf8,
    // no folded text contains a NUL, so it can separate needles
    key: needles.toSorted().join('\0'),
  };
}
