import type { TextMatch } from '#kernel/contracts/search-engine.ts';
import { foldText } from '#kernel/text/fold.ts';
import { indexPair } from '#kernel/text/index-pair.ts';
import { type NeedlePlan, planNeedles, spreadGrams } from '#search/segments/needle-plan.ts';
import type { Gram } from '#search/segments/postings-layout.ts';
import type { Check } from '#search/text/check-in-parts.ts';
import { indexTerm } from '#search/text/index-term.ts';
import { metadataTerms } from '#search/text/metadata-terms.ts';
import { exactWordCheck, fuzzyWordCheck } from '#search/text/word-check.ts';
import { editsOf } from '#search/text/words.ts';

/** A check of the texts themselves, after Postgres has selected candidates. */
export interface TextCheck {
  /** The column to check: the folded text, or the metadata in their original form. */
  readonly column: 'folded' | 'json';
  /** The check of one text in UTF-8. */
  readonly has: Check<Uint8Array>;
}

/** The plan to find texts: first by postings, then by needles in SQL, then one by one. */
export interface TextPlan extends NeedlePlan {
  /**
   * Used instead of `required` and `optional`. One alternative of each list must match. An alternative matches if the
   * text has all of its grams.
   */
  readonly alternatives: readonly (readonly (readonly Gram[])[])[] | null;
  /** Null: postings and needles are enough. */
  readonly check: TextCheck | null;
}

/**
 * Separator that occurs in no folded text. In keys of needle plans it separates needles, and keys of other plans begin
 * with it. Otherwise a search for the needles `fuzzy` and `ordi` would get the cached result of a fuzzy search for
 * `ordi`.
 */
const border = '\0';

/** The plan of a search for folded needles or words. Null: no text can contain them. */
export function planTexts(match: TextMatch, needles: readonly string[]): TextPlan | null {
  if (match === 'fuzzy') return planFuzzy(needles);
  const plan = planNeedles(needles);
  if (plan === null || match === 'substring') return plan && { ...plan, alternatives: null, check: null };
  const has = exactWordCheck(needles);
  return {
    ...plan,
    key: `${border}words${border}${needles.toSorted().join(border)}`,
    alternatives: null,
    check: { column: 'folded', has },
  };
}

/** Minimum number of code points of a piece that is looked up, and maximum number of its grams that are looked up. */
const gramsAPiece = 6;

function gramsOf(points: readonly number[]): Gram[] {
  if (points.length > 3) return spreadGrams(points, gramsAPiece);
  return [[...Array<number>(3 - points.length).fill(0), ...points] as unknown as Gram];
}

/**
 * Pieces of a word, of which every word within k edits contains at least one unchanged. Of k + 1 pieces, k edits leave
 * one unchanged, unless a swap crosses the border of two pieces and changes both. In that case these two pieces
 * together, with the swapped border, are otherwise unchanged. If two swaps cross two borders, the whole word with both
 * swaps is unchanged.
 */
export function fuzzyPieces(points: readonly number[], edits: number): number[][] {
  const bounds = Array.from({ length: edits + 2 }, (_, at) => Math.round((at * points.length) / (edits + 1)));
  const swappedAt = (places: readonly number[]): number[] => {
    const swapped = [...points];
    for (const place of places) {
      [swapped[place - 1], swapped[place]] = [points[place]!, points[place - 1]!];
    }
    return swapped;
  };
  const pieces: number[][] = [];
  for (let at = 0; at <= edits; at++) pieces.push(points.slice(bounds[at], bounds[at + 1]));
  const borders = bounds.slice(1, -1);
  for (const [at, border] of borders.entries())
    pieces.push(swappedAt([border]).slice(bounds[at], bounds[at + 2]));
  if (borders.length > 1) pieces.push(swappedAt(borders));
  return pieces;
}

function planFuzzy(words: readonly string[]): TextPlan | null {
  if (words.some((word) => !word.isWellFormed())) return null;
  const alternatives = words.map((word) => {
    const points = Array.from(word, (point) => point.codePointAt(0) as number);
    return fuzzyPieces(points, editsOf(word)).map(gramsOf);
  });
  return {
    ...nothing,
    key: `${border}fuzzy${border}${words.toSorted().join(border)}`,
    alternatives,
    check: { column: 'folded', has: fuzzyWordCheck(words) },
  };
}

const nothing = { required: [], optional: [], checked: [], all: [] } as const;

/**
 * Characters that JSON escapes: quotes, backslashes and controls (NUL is folded to U+2400). A text without them is the
 * same in JSON.
 */
const escaped = /["\\\p{C}\u2028\u2029\u2400]+/u;

/** The pieces of a name or value that its folded JSON text must contain. */
const plainPieces = (text: string): string[] =>
  foldText(text)
    .split(escaped)
    .filter((piece) => piece !== '');

/** The plan for metadata with a given key, with a given value, or with a value under a key. */
export function planMetadata(wanted: { readonly key?: string; readonly value?: string }): TextPlan {
  const key = wanted.key === undefined ? null : foldText(wanted.key);
  const value = wanted.value === undefined ? null : foldText(wanted.value);
  const pieces = [key, value].flatMap((one) => (one === null ? [] : plainPieces(one)));
  // limits needles of any length, as for searches
  const needles = pieces.map((piece) => Array.from(piece).slice(0, 1000).join('')).slice(0, 32);
  const plan = needles.length === 0 ? null : planNeedles(needles);
  const terms = (text: Uint8Array): boolean => {
    const found = metadataTerms(decoder.decode(text));
    if (found === null) return false;
    if (key === null) return value !== null && found.values.includes(indexTerm(value));
    if (value === null) return found.keys.includes(indexTerm(key));
    return found.pairs.includes(indexPair(key, value));
  };
  return {
    ...(plan ?? nothing),
    key: `${border}metadata${border}${JSON.stringify([key, value])}`,
    alternatives: null,
    check: { column: 'json', has: terms },
  };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
