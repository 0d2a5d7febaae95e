import { setImmediate as nextTurn } from 'node:timers/promises';
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

/** Records of a page with highlights: so much is read of each text that a page has to be small. */
export const highlightedMax = 100;
/** UTF-8 of the texts of a page together, in which matches are looked for. Six pages at once have to fit into memory. */
const pageBytesMax = 8 * 1024 * 1024;
/** Words that a page compares with those of a fuzzy search: some tenths of a second. */
const comparisonsMax = 1_000_000;
/** What stands around a match, in UTF-16 units on each side: a line or two. */
const aroundUnits = 80;

/** How much is read of each text of a page, to find what is searched for beyond what records show. */
export function highlightBytesOf(itemsPerPage: number): number {
  return Math.floor(pageBytesMax / itemsPerPage);
}

/** What was looked for in texts. */
export interface Looked {
  readonly match: TextMatch;
  /** Folded. */
  readonly needles: readonly string[];
}

/** Finds what was looked for in the texts of a page. */
export class Highlighter {
  private readonly looked: Looked;
  private readonly needles: readonly Needle[];
  private readonly matchers: readonly WordMatcher[];
  private comparisonsLeft = comparisonsMax;

  constructor(looked: Looked) {
    this.looked = looked;
    const isSubstring = looked.match === 'substring';
    this.needles = isSubstring ? [...new Set(looked.needles)].map(needleOf) : [];
    this.matchers = isSubstring ? [] : looked.needles.map((word) => wordMatcher(word, looked.match));
  }

  /** The pieces around the first match of each needle, joined where they meet. All matches within them are told. */
  highlights(text: string): Highlight[] {
    const folded = foldText(text);
    // offsets are shared: no mapping of the folding changes how many units a code point has (test/unit/search/records/highlights.test.ts)
    if (folded.length !== text.length) throw new Error('folding has changed the length of a text');
    const isSubstring = this.looked.match === 'substring';
    const found = isSubstring ? firstNeedles(folded, this.needles) : this.firstWords(folded);
    return joined(found.map((span) => widened(text, span))).map((piece) => {
      const within = isSubstring ? needlesIn(folded, piece, this.needles) : this.wordsIn(folded, piece);
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

  private firstWords(folded: string): Span[] {
    if (this.looked.match === 'words') return firstExactWords(folded, this.looked.needles);
    const spans: Span[] = [];
    const missing = new Set(this.matchers);
    for (const { word, ...span } of wordsWithin(folded, { start: 0, end: folded.length })) {
      for (const matches of missing) {
        if (this.comparisonsLeft-- <= 0) return spans;
        if (!matches(word)) continue;
        missing.delete(matches);
        spans.push(span);
      }
      if (missing.size === 0) break;
    }
    return spans;
  }

  private wordsIn(folded: string, piece: Span): Span[] {
    const spans: Span[] = [];
    for (const { word, start, end } of wordsWithin(folded, piece)) {
      if (this.matchers.some((matches) => matches(word))) spans.push({ start, end });
    }
    return spans;
  }
}

/** From `start` to before `end`, in UTF-16 units. */
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

/** The words of a part of a text; one that the ends of the part divide is none. */
function* wordsWithin(folded: string, { start, end }: Span): Generator<Span & { readonly word: string }> {
  for (const { 0: word, index } of folded.slice(start, end).matchAll(runOfLetters)) {
    const span = { start: start + index, end: start + index + word.length };
    if (index === 0 && start > 0 && isLetterAt(folded, codePointStart(folded, start - 1))) continue;
    if (span.end === end && end < folded.length && isLetterAt(folded, end)) continue;
    if (word.length > wordCodePointsMax && Array.from(word).length > wordCodePointsMax) continue;
    yield { word, ...span };
  }
}

/** Of each word the first place. One look a word of the text, however many are looked for. */
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

/** A span with what stands around it, at the borders of code points. */
function widened(text: string, { start, end }: Span): Span {
  return {
    start: codePointStart(text, Math.max(0, start - aroundUnits)),
    end: codePointStart(text, Math.min(text.length, end + aroundUnits)),
  };
}

/** Spans in their order, those that overlap or touch joined. */
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
 * Records, read with `highlightBytesOf` of their texts, with what was found in one of these, and the texts cut to what records show. Lets
 * others work between them: 8 MB of texts take up to a second.
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

/** Without the word at the end where the text may be cut there: it could be the beginning of a longer one. */
function wholeWords(text: string, bytesRead: number): string {
  // what is cut at the border of a code point lacks at most three bytes
  if (text.length * 3 < bytesRead || Buffer.byteLength(text) + 3 < bytesRead) return text;
  return text.slice(0, lastRunStart(text));
}

function cutShown(text: string | null, bytesMax: number): string | null {
  // a unit is at least a byte
  if (text === null || (text.length <= bytesMax && Buffer.byteLength(text) <= bytesMax)) return text;
  return cutText(Buffer.from(text), bytesMax);
}
