import type { Corpus, TextMatches } from '#kernel/contracts/search-engine.ts';
import { editsOf } from '../words.ts';
import { gramNeedle } from './gram-text.ts';
import type { NeedleWays, PhraseBook } from './phrase-book.ts';

/** A clause of a filter, as Elasticsearch takes it. */
export type Clause = Readonly<Record<string, unknown>>;

const wordFields: Readonly<Record<Corpus, string>> = { content: 'words', metadata: 'metadataWords' };

/** Code points of a gram. */
const gramPoints = 3;

/**
 * The clauses that the text of a corpus must satisfy to have all of the needles or words; null where none can. `book`: of the phrases
 * of the index.
 */
export function textClauses(
  { corpus, match = 'substring', needles }: Omit<TextMatches, 'filter'>,
  book: PhraseBook,
): Clause[] | null {
  if (match === 'substring') {
    return corpus === 'content' ? contentClauses(needles, book) : needleClauses('metadata', needles);
  }
  if (!needles.every((word) => word.isWellFormed())) return null;
  const field = wordFields[corpus];
  return [...new Set(needles)].map((word) =>
    match === 'words' ? { term: { [field]: word } } : fuzzyClause(field, word),
  );
}

/**
 * The clauses that a field of grams must satisfy to contain all of the folded needles, exactly; null where none can. A needle of
 * three and more code points is a phrase of its grams, whose positions follow each other. A shorter one begins a gram: every
 * code point of a text begins one, as two more follow the last.
 */
export function needleClauses(field: string, folded: readonly string[]): Clause[] | null {
  return neededOf(folded)?.map((needle) => needleClause(field, gramNeedle(needle))) ?? null;
}

/** The same of texts whose phrases are letters: each needle in one of its ways. */
function contentClauses(folded: readonly string[], book: PhraseBook): Clause[] | null {
  const needles = neededOf(folded)?.map((needle) => book.waysOf(gramNeedle(needle)));
  if (needles === undefined) return null;
  return isDistributed(needles) ? [distributed(needles)] : needles.map(wayClause);
}

/** A few needles, as what is distributed grows with the square of their number. */
const distributedMax = 4;

const isDistributed = (needles: readonly NeedleWays[]): boolean =>
  needles.length > 1 &&
  needles.length <= distributedMax &&
  needles.every(({ phrases }) => phrases.length > 0);

/**
 * The same as all of the clauses of the needles. Most texts that have them have all of them within phrases, which one look at
 * their shape tells: where each of several clauses may also be a part, a server looks at every document of all of them.
 */
const distributed = (needles: readonly NeedleWays[]): Clause =>
  anyOf([
    withinClause(needles),
    ...needles.map((needle, at) =>
      allOf([anyOf(partClauses(needle)), ...needles.filter((_, other) => other !== at).map(wayClause)]),
    ),
  ]);

const wayClause = (needle: NeedleWays): Clause =>
  anyOf([...(needle.phrases.length === 0 ? [] : [withinClause([needle])]), ...partClauses(needle)]);

/**
 * Texts that have each of the needles within a phrase. There are as many shapes as texts combine phrases, some tens, and each text has
 * one: a server goes through the documents of those that match, and through none twice.
 */
function withinClause(needles: readonly NeedleWays[]): Clause {
  const value = needles.map(({ phrases }) => `.*[${phrases.join('')}].*`).join('&');
  return { regexp: { shape: { value, flags: 'INTERSECTION' } } };
}

const partClauses = ({ parts }: NeedleWays): Clause[] => parts.map((part) => needleClause('text', part));

const allOf = (clauses: readonly Clause[]): Clause => ({ bool: { filter: clauses } });

function anyOf(clauses: readonly Clause[]): Clause {
  const [only] = clauses;
  return only !== undefined && clauses.length === 1
    ? only
    : { bool: { should: clauses, minimum_should_match: 1 } };
}

/** The needles without those that say nothing more; null: one of them can be in no text. */
function neededOf(folded: readonly string[]): string[] | null {
  if (!folded.every((needle) => needle.isWellFormed())) return null;
  const distinct = [...new Set(folded)].toSorted((a, b) => b.length - a.length);
  // a needle that is part of another one says nothing more
  return distinct.filter(
    (needle, at) => !distinct.some((other, before) => before < at && other.includes(needle)),
  );
}

function needleClause(field: string, needle: string): Clause {
  const isShort = needle.length < gramPoints * 2 && Array.from(needle).length < gramPoints;
  return isShort
    ? { prefix: { [field]: { value: needle } } }
    : { match_phrase: { [field]: { query: needle } } };
}

/**
 * Every word within the edits of a word, however many there are: with this rewrite the automaton walks through the dictionary of
 * words, and `max_expansions`, which bounds other rewrites, is not looked at.
 */
function fuzzyClause(field: string, word: string): Clause {
  const fuzziness = editsOf(word);
  if (fuzziness === 0) return { term: { [field]: word } };
  const rewrite = 'constant_score';
  return { fuzzy: { [field]: { value: word, fuzziness, prefix_length: 0, transpositions: true, rewrite } } };
}

/** A hash as it stands in the index: random terms share no beginnings, so each of their bytes counts. */
export const hashTerm = (hash: Uint8Array): string => Buffer.from(hash).toString('base64url');

/** The clause of contents whose stored or decoded body has a hash. */
export const hashClause = (hash: Uint8Array): Clause => ({
  term: { hashes: hashTerm(hash) },
});
