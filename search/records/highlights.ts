import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { TextMatch } from '#kernel/contracts/search-engine.ts';
import type { Highlight, SearchRecord } from '#kernel/contracts/search-service.ts';
import { foldText } from '#kernel/text/fold.ts';
import { Occurrences } from '#search/text/occurrences.ts';
import { cutText } from '#search/text/stored-text.ts';
import { type WordMatcher, wordMatcher } from '#search/text/word-matcher.ts';
import {
  codePointStart,
  isLetterAt,
  lastRunStart,
  runOfLetters,
  wordCodePointsMax,
} from '#search/text/words.ts';
import type { ShownBytes } from './records.ts';

/** Maximum number of records on a page with highlights. Every text is read, so the page must be small. */
export const highlightedMax = 100;
/** Maximum UTF-8 bytes of all texts of a page that are searched for matches. Six such pages must fit in memory. */
const pageBytesMax = 8 * 1024 * 1024;
/** Maximum number of words that a page of a fuzzy search compares: some tenths of a second. */
const comparisonsMax = 1_000_000;
/** Number of UTF-16 units shown on each side of a match: a line or two. */
const aroundUnits = 80;

/** Number of bytes read from each text of a page, to find matches after the shown part. */
export function highlightBytesOf(itemsPerPage: number): number {
  return Math.floor(pageBytesMax / itemsPerPage);
}

/** The needles or words that a search looked for. */
export interface Looked {
  readonly match: TextMatch;
  /** Needles or words in folded form. */
  readonly needles: readonly string[];
}

/** Finds the matches in the texts of a page. */
export class Highlighter {
  readonly #looked: Looked;
  readonly #needles: readonly Needle[];
  readonly #matchers: readonly WordMatcher[];
  #comparisonsLeft = comparisonsMax;

  constructor(looked: Looked) {
    this.#looked = looked;
    const isSubstring = looked.match === 'substring';
    this.#needles = isSubstring ? [...new Set(looked.needles)].map(needleOf) : [];
    this.#matchers = isSubstring ? [] : looked.needles.map((word) => wordMatcher(word, looked.match));
  }

  /**
   * Pieces of the text around the first match of each needle. Pieces that meet are joined. Each piece lists all of its
   * matches.
   */
  highlights(text: string): Highlight[] {
    const folded = foldText(text);
    // offsets are valid for both texts, because folding never changes the number of units of a code point
    // (test/unit/search/records/highlights.test.ts)
    if (folded.length !== text.length) throw new Error('folding has changed the length of a text');
    const isSubstring = this.#looked.match === 'substring';
    const found = isSubstring ? firstNeedles(folded, this.#needles) : this.#firstWords(folded);
    return joined(found.map((span) => widened(text, span))).map((piece) => {
      const within = isSubstring ? needlesIn(folded, piece, this.#needles) : this.#wordsIn(folded, piece);
      return {
        text: text.slice(piece.start, piece.end),
        offset: piece.start,
        matches: joined(within).map(({ start, end }) => ({
          start: start - piece.start,
          end: end - piece.start,
        })),
      };
    });
  }

  #firstWords(folded: string): Span[] {
    if (this.#looked.match === 'words') return firstExactWords(folded, this.#looked.needles);
    const spans: Span[] = [];
    const missing = new Set(this.#matchers);
    for (const { word, ...span } of wordsWithin(folded, { start: 0, end: folded.length })) {
      for (const matches of missing) {
        if (this.#comparisonsLeft-- <= 0) return spans;
        if (!matches(word)) continue;
        missing.delete(matches);
        spans.push(span);
      }
      if (missing.size === 0) break;
    }
    return spans;
  }

  #wordsIn(folded: string, piece: Span): Span[] {
    const spans: Span[] = [];
    for (const { word, start, end } of wordsWithin(folded, piece)) {
      if (this.#matchers.some((matches) => matches(word))) spans.push({ start, end });
    }
    return spans;
  }
}

/** A range from `start` to before `end`, in UTF-16 units. */
interface Span {
  readonly start: number;
  readonly end: number;
}

interface Needle {
  readonly length: number;
  readonly occurrences: Occurrences;
}

const needleOf = (needle: string): Needle => ({
  length: needle.length,
  occurrences: new Occurrences(needle),
});

function firstNeedles(folded: string, needles: readonly Needle[]): Span[] {
  return needles.flatMap(({ length, occurrences }) => {
    const start = occurrences.first(folded);
    return start === -1 ? [] : [{ start, end: start + length }];
  });
}

function needlesIn(folded: string, { start, end }: Span, needles: readonly Needle[]): Span[] {
  const piece = folded.slice(start, end);
  const spans: Span[] = [];
  for (const { length, occurrences } of needles) {
    for (const at of occurrences.all(piece)) spans.push({ start: start + at, end: start + at + length });
  }
  return spans;
}

/** The words of a part of a text. A word that is cut by the end of the part is omitted. */
function* wordsWithin(folded: string, { start, end }: Span): Generator<Span & { readonly word: string }> {
  for (const { 0: word, index } of folded.slice(start, end).matchAll(runOfLetters)) {
    const span = { start: start + index, end: start + index + word.length };
    if (index === 0 && start > 0 && isLetterAt(folded, codePointStart(folded, start - 1))) continue;
    if (span.end === end && end < folded.length && isLetterAt(folded, end)) continue;
    if (word.length > wordCodePointsMax && Array.from(word).length > wordCodePointsMax) continue;
    yield { word, ...span };
  }
}

/** The first position of each word. Each word of the text is checked once, however many words are searched. */
function firstExactWords(folded: string, words: readonly string[]): Span[] {
  const spans: Span[] = [];
  const missing = new Set(words);
  for (const { word, ...span } of wordsWithin(folded, { start: 0, end: folded.length })) {
    if (!missing.delete(word)) continue;
    spans.push(span);
    if (missing.size === 0) break;
  }
  return spans;
}

/** A span and its surroundings, cut between code points. */
function widened(text: string, { start, end }: Span): Span {
  return {
    start: codePointStart(text, Math.max(0, start - aroundUnits)),
    end: codePointStart(text, Math.min(text.length, end + aroundUnits)),
  };
}

/** Sorts spans and joins those that overlap or touch. */
function joined(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const last = merged.at(-1);
    if (last === undefined || span.start > last.end) merged.push(span);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
  }
  return merged;
}

/**
 * Adds highlights to records and cuts the texts to the shown length. The texts must have been read with
 * `highlightBytesOf`. Yields between records, because 8 MB of texts take up to a second.
 */
export async function highlighted(
  records: readonly SearchRecord[],
  field: 'contentstr' | 'metadatastr',
  highlighter: Highlighter,
  { read, shown }: { readonly read: number; readonly shown: ShownBytes },
): Promise<SearchRecord[]> {
  const marked: SearchRecord[] = [];
  for (const record of records) {
    marked.push({
      ...record,
      contentstr: cutShown(record.contentstr, shown.content),
      metadatastr: cutShown(record.metadatastr, shown.metadata),
      highlights: highlighter.highlights(wholeWords(record[field] ?? '', read)),
    });
    await nextTurn();
  }
  return marked;
}

/** Drops the last word if the text may be cut inside that word. */
function wholeWords(text: string, bytesRead: number): string {
  // a text cut inside a code point loses at most three bytes
  if (text.length * 3 < bytesRead || Buffer.byteLength(text) + 3 < bytesRead) return text;
  return text.slice(0, lastRunStart(text));
}

function cutShown(text: string | null, bytesMax: number): string | null {
  // a unit takes at least one byte
  if (text === null || (text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax)) return text;
  return cutText(Buffer.from(text), bytesMax);
}
