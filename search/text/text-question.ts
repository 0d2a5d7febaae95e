import type { SearchFilter, TextMatch } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { foldText } from '#kernel/text/fold.ts';
import { splitNeedles } from './split-needles.ts';
import { wordCodePointsMax, wordsOf } from './words.ts';

/** Maximum number of words. Each word is looked up separately, and a fuzzy search compares texts with each word. */
const wordsMax = 64;

const tooLongWord = new RegExp(`[\\p{L}\\p{M}\\p{N}]{${wordCodePointsMax + 1}}`, 'u');

/** The search for a text: needles or words. */
export interface ReadQuestion {
  readonly match: TextMatch;
  /** Needles as the client sees them. */
  readonly needles: readonly string[];
  readonly folded: readonly string[];
}

/** Reads the search for a text. Throws `search_text_invalid` with the reason. */
export function readQuestion(
  {
    text,
    phrase,
    match = 'substring',
  }: { text?: string | undefined; phrase: boolean; match?: TextMatch | undefined },
  filter: SearchFilter = {},
): ReadQuestion {
  if (text === undefined) {
    if (finds(filter)) return { match, needles: [], folded: [] };
    throw refused('text is missing');
  }
  if (match !== 'substring') {
    const words = readWords(text);
    return { match, needles: words, folded: words };
  }
  const split = splitNeedles(text, phrase);
  if (split.kind === 'refused') throw refused(split.reason);
  return { match, needles: split.needles, folded: split.needles.map(foldText) };
}

/** Whether a filter is specific enough to search without a text. */
export function finds({ metadata, title, traits, gallery }: SearchFilter = {}): boolean {
  return [metadata, title, traits, gallery].some((value) => value !== undefined);
}

function readWords(text: string): string[] {
  if (tooLongWord.test(text)) {
    throw refused(`a word is longer than ${wordCodePointsMax} characters`);
  }
  const words = wordsOf(text);
  if (words.length === 0) throw refused('text has no word to search for');
  if (words.length > wordsMax) {
    throw refused(`text has ${words.length} words, but at most ${wordsMax} can be searched at once`);
  }
  return words;
}

function refused(reason: string): AppError {
  return new AppError('search_text_invalid', reason, { parameter: 'text' });
}
