/** Bounds of a query: docs/search.md, "Needles". */
export const needleBounds = {
  /**
   * Maximum number of needles. Each costs a few lookups in the postings, and a comparison with each text that may
   * match.
   */
  needlesMax: 32,
  /**
   * Maximum number of code points in a needle. 32 such needles in a URL exceed what HTTP accepts; this limit keeps one
   * comparison small.
   */
  codePointsMax: 1000,
} as const;

export type SplitNeedles =
  | { readonly kind: 'needles'; readonly needles: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * The needles of a search for `text`: its parts between commas, without surrounding blanks and without empty parts. If
 * it is a phrase: the whole text, unchanged. Needles are not folded, and repeated needles are kept.
 */
export function splitNeedles(text: string, phrase: boolean): SplitNeedles {
  const parts = phrase ? [text] : text.split(',').map(trimmed);
  const needles = parts.filter((part) => part !== '');
  if (needles.length === 0) return refused('text has nothing to search for');
  if (needles.length > needleBounds.needlesMax) {
    return refused(
      `text has ${needles.length} needles, but at most ${needleBounds.needlesMax} can be searched at once`,
    );
  }
  if (needles.some(isTooLong)) {
    return refused(`a needle is longer than ${needleBounds.codePointsMax} characters`);
  }
  return { kind: 'needles', needles };
}

/**
 * A part without the blanks at both ends. It takes linear time; `/[\t-\r ]+$/` would search a run of blanks again from
 * each blank.
 */
function trimmed(part: string): string {
  let start = 0;
  let end = part.length;
  while (start < end && isBlank(part.charCodeAt(start))) start++;
  while (end > start && isBlank(part.charCodeAt(end - 1))) end--;
  return part.slice(start, end);
}

/** ASCII's tab, line feed, vertical tab, form feed, return and space. */
function isBlank(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

function refused(reason: string): SplitNeedles {
  return { kind: 'refused', reason };
}

/**
 * Whether a needle has too many code points. Code points are only counted if the number of UTF-16 units does not
 * decide.
 */
function isTooLong(needle: string): boolean {
  const { codePointsMax } = needleBounds;
  if (needle.length <= codePointsMax) return false;
  return needle.length > 2 * codePointsMax || Array.from(needle).length > codePointsMax;
}
