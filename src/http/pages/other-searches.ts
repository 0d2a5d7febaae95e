import { type Asker, askerWith } from '#kernel/contracts/asker.ts';
import type { Corpus, TextMatch } from '#kernel/contracts/search-engine.ts';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { OtherSearch } from '#web/pages/results.page.ts';

interface EmptySearch {
  readonly text: string;
  readonly where: Corpus;
  readonly match: TextMatch;
}

/**
 * How long all counts together may take, in ms, because a person waits. A slower search is offered without its number
 * of matches.
 */
const countsMs = 1_500;

/**
 * Other searches for a text that was not found, with the number of their matches. The searches run one after another,
 * so that a page uses only one search at a time. Searches without a match are left out.
 */
export async function otherSearches(
  search: SearchService,
  { text, where, match }: EmptySearch,
  asker: Asker,
): Promise<OtherSearch[]> {
  const signal = AbortSignal.any([asker.signal, AbortSignal.timeout(countsMs)]);
  const offers: OtherSearch[] = [];
  for (const other of readings(text, where, match)) {
    const count = await countOf(search, { text, ...other }, asker, signal);
    if (count === 'refused' || count === 0) continue;
    offers.push({
      words: other.words,
      href: hrefOf(text, other),
      count: count === 'too slow' ? null : count,
    });
  }
  return offers;
}

interface Reading {
  readonly words: string;
  readonly corpus: Corpus;
  readonly match: TextMatch;
}

/** Searches for the text by looser rules in the same corpus, then by the same rules in the other corpus. */
function readings(text: string, where: Corpus, match: TextMatch): Reading[] {
  // if no text contains the one word of a query even as a part, no text contains it as a whole word
  const isOneWord = /^[\p{L}\p{M}\p{N}]*$/u.test(text.trim());
  const elsewhere = where === 'content' ? 'metadata' : 'content';
  const looser: readonly Reading[] = [
    ...(isOneWord ? [] : [{ words: 'any order of the words', corpus: where, match: 'words' } as const]),
    { words: 'similar words', corpus: where, match: 'fuzzy' },
  ];
  const order = { substring: 0, words: 1, fuzzy: 2 } as const;
  const inOther = where === 'content' ? 'in metadata' : 'in contents';
  return [
    ...looser.filter((reading) => order[reading.match] > order[match]),
    { words: inOther, corpus: elsewhere, match },
  ];
}

async function countOf(
  search: SearchService,
  { text, corpus, match }: Reading & { readonly text: string },
  asker: Asker,
  signal: AbortSignal,
): Promise<number | 'too slow' | 'refused'> {
  if (signal.aborted) return 'too slow';
  try {
    const { value } = await search.textSearch({
      text,
      corpus,
      match,
      phrase: match === 'substring',
      page: 1,
      itemsPerPage: 1,
      pending: true,
      asker: askerWith(asker, signal),
    });
    return value.totalItems;
  } catch (error) {
    asker.signal.throwIfAborted();
    if (signal.aborted) return 'too slow';
    // a search is not offered if the text has no words, the search would read too much, or too many searches run
    if (error instanceof AppError) return 'refused';
    throw error;
  }
}

function hrefOf(text: string, { corpus, match }: Reading): string {
  const parameters = new URLSearchParams({ text: text.toWellFormed() });
  if (corpus === 'metadata') parameters.set('in', 'metadata');
  if (match !== 'substring') parameters.set(match, '1');
  return `/?${parameters.toString()}`;
}
