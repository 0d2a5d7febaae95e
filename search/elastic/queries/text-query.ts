import type { Corpus, TextMatch, TextMatches } from '#kernel/contracts/search-engine.ts';
import { gramNeedle } from '#search/text/gram-text.ts';
import { editsOf } from '#search/text/words.ts';
import type { NeedleWays, PhraseBook } from '../phrases/phrase-book.ts';
import { ShapeClauses } from '../phrases/shape-clauses.ts';
import type { ShapeCounts } from '../phrases/shapes.ts';
import { allOf, anyOf, type Clause, type Search } from '../server/clause.ts';
import { type ElasticTuning, usualTuning } from '../server/elastic-tuning.ts';

const wordFields: Readonly<Record<Corpus, string>> = { content: 'words', metadata: 'metadataWords' };

/** Number of code points in a gram. */
const gramPoints = 3;

/** The clauses for a text of a corpus. */
export interface TextQuery {
  readonly clauses: readonly Clause[];
  /** Matches known from phrases. Null: the matches must be counted. */
  readonly within: WithinPhrases | null;
  /**
   * Whether probably only a small share of all texts matches: there are several needles, and not all of them are within
   * phrases that very many texts share. Answers are exact in either case.
   */
  readonly isRare: boolean;
}

/** Matches known without reading their documents: texts that have all needles inside phrases. */
export interface WithinPhrases {
  readonly inscriptions: number;
  /** All other matches. */
  readonly others: Clause;
}

/** The phrases of the index, and the counts of their combinations. */
export interface Phrases {
  readonly book: PhraseBook;
  /**
   * Shapes are needed if a needle can appear in more than one form. Null: not counted yet, or there are too many
   * combinations.
   */
  shapes(): ShapeCounts | null;
  readonly search: Search;
}

type NamedShapes = Pick<ElasticTuning, 'namedShapesMax'>;

/** The clauses of needles or words in a corpus. Null: no text can have all of them. */
export async function textQuery(
  { corpus, match = 'substring', needles }: Omit<TextMatches, 'filter'>,
  phrases: Phrases,
  bounds: NamedShapes = usualTuning,
): Promise<TextQuery | null> {
  if (match === 'substring' && corpus === 'content') return contentQuery(needles, phrases, bounds);
  const clauses =
    match === 'substring' ? needleClauses('metadata', needles) : wordClauses(corpus, match, needles);
  return clauses === null ? null : { clauses, within: null, isRare: false };
}

/** Clauses for words. A word is a whole term; a fuzzy word is any similar term. */
function wordClauses(corpus: Corpus, match: TextMatch, words: readonly string[]): Clause[] | null {
  if (!words.every((word) => word.isWellFormed())) return null;
  const field = wordFields[corpus];
  return [...new Set(words)].map((word) =>
    match === 'words' ? { term: { [field]: word } } : fuzzyClause(field, word),
  );
}

/**
 * The clauses of a field of grams that match exactly the texts with all folded needles. Null: no text can have all of
 * them. A needle of three or more code points is a phrase of its grams, at consecutive positions. A shorter needle is
 * the beginning of a gram: every code point of a text begins a gram, because two more code points are appended to the
 * text.
 */
export function needleClauses(field: string, folded: readonly string[]): Clause[] | null {
  return neededOf(folded)?.map((needle) => needleClause(field, gramNeedle(needle))) ?? null;
}

/** Like `needleClauses`, for texts whose phrases are letters. Each needle may appear in one of its forms. */
async function contentQuery(
  folded: readonly string[],
  phrases: Phrases,
  { namedShapesMax }: NamedShapes,
): Promise<TextQuery | null> {
  const needed = neededOf(folded);
  if (needed === null) return null;
  const ways = needed.map((needle) => phrases.book.waysOf(gramNeedle(needle)));
  // a search may only have filters
  if (ways.length === 0) return { clauses: [], within: null, isRare: false };
  const isFew = ways.length <= dividedMax;
  const isAsked = ways.some(({ phrases: within, parts }) => within.length > 0 || parts.length > 1);
  const shapes = new ShapeClauses(isAsked ? phrases.shapes() : null, isFew ? namedShapesMax : 0);
  const needles = await Promise.all(
    ways.map(async ({ phrases: within, parts }) => ({
      phrases: within,
      parts: await possibleParts(shapes.partsOf(parts), phrases),
    })),
  );
  // short needles also appear outside the phrases of most texts, so one count over all texts is faster than a count
  // over the others
  const isDivided =
    isFew && needles.every(({ phrases: own }, at) => own.length > 0 && !isShort(needed[at] ?? ''));
  if (isDivided) return dividedQuery(needles, shapes);
  const isRare =
    needles.length > 1 &&
    needles.some(({ phrases: own }, at) => own.length === 0 && !isShort(needed[at] ?? ''));
  return { clauses: needles.map((needle) => wayClause(needle, shapes)), within: null, isRare };
}

/**
 * Maximum number of code points of all parts of a needle. Each becomes a clause, and the server limits the number of
 * clauses.
 */
const partsLengthMax = 2000;
/** Number of code points at both ends that distinguish the parts of a needle. */
const endLength = 16;

interface PartsAnswer {
  readonly aggregations: {
    readonly parts: { readonly buckets: Readonly<Record<string, { readonly doc_count: number }>> };
  };
}

/**
 * The parts of a long needle differ only at their ends. Parts whose ends occur in no text are dropped before the whole
 * parts are requested.
 */
async function possibleParts(
  parts: readonly string[],
  { search }: Pick<Phrases, 'search'>,
): Promise<readonly string[]> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (parts.length < 2 || length <= partsLengthMax) return parts;
  const filters = parts.map((part, at): [name: string, ends: Clause] => {
    const points = Array.from(part);
    const ends = [points.slice(0, endLength), points.slice(-endLength)];
    return [String(at), allOf(ends.map((end) => needleClause('text', end.join(''))))];
  });
  const { aggregations } = await search<PartsAnswer>(
    { size: 0, aggs: { parts: { filters: { filters: Object.fromEntries(filters) } } } },
    [],
  );
  return parts.filter((_, at) => (aggregations.parts.buckets[at]?.doc_count ?? 0) > 0);
}

/**
 * Maximum number of needles for which the query is divided. The cost grows with the square of their number, and the
 * server limits all clauses together.
 */
const dividedMax = 3;

/**
 * Most texts that have all of the needles have them inside phrases, which their shape shows. These texts get a clause
 * of their own. Otherwise each clause could also match a part, and the server would read every document of all clauses.
 */
function dividedQuery(needles: readonly NeedleWays[], shapes: ShapeClauses): TextQuery {
  const others = anyOf(
    needles.map((needle, at) => {
      const rest = needles.filter((_, other) => other !== at);
      return allOf([anyOf(partClauses(needle)), ...rest.map((other) => wayClause(other, shapes))]);
    }),
  );
  const { clause, inscriptions } = shapes.with(needles);
  // no text has all needles within phrases
  if (clause === null) return { clauses: [others], within: null, isRare: needles.length > 1 };
  const rest = { bool: { filter: [others], must_not: [clause] } };
  return {
    clauses: [anyOf([clause, others])],
    within: inscriptions === null ? null : { inscriptions, others: rest },
    isRare: false,
  };
}

function wayClause(needle: NeedleWays, shapes: ShapeClauses): Clause {
  const { clause } = shapes.with([needle]);
  return anyOf([...(clause === null ? [] : [clause]), ...partClauses(needle)]);
}

const partClauses = (needle: NeedleWays): Clause[] => needle.parts.map((part) => needleClause('text', part));

/** Needles without those that add nothing. Null: one needle occurs in no text. */
function neededOf(folded: readonly string[]): string[] | null {
  if (!folded.every((needle) => needle.isWellFormed())) return null;
  const distinct = [...new Set(folded)].toSorted((a, b) => b.length - a.length);
  // a needle that is part of another one adds nothing
  return distinct.filter(
    (needle, at) => !distinct.some((other, before) => before < at && other.includes(needle)),
  );
}

/** Whether a needle is shorter than a gram. */
const isShort = (needle: string): boolean =>
  needle.length < gramPoints * 2 && Array.from(needle).length < gramPoints;

function needleClause(field: string, needle: string): Clause {
  return isShort(needle)
    ? { prefix: { [field]: { value: needle } } }
    : { match_phrase: { [field]: { query: needle } } };
}

/**
 * All words within the allowed edits of a word, however many there are. With this rewrite the automaton reads the
 * dictionary of words, and `max_expansions`, which limits other rewrites, does not apply.
 */
function fuzzyClause(field: string, word: string): Clause {
  const fuzziness = editsOf(word);
  if (fuzziness === 0) return { term: { [field]: word } };
  const rewrite = 'constant_score';
  return { fuzzy: { [field]: { value: word, fuzziness, prefix_length: 0, transpositions: true, rewrite } } };
}

/**
 * A hash in the form in which the index has it. base64url is shorter than hex. The length matters, because random terms
 * have no common beginnings that the index could share.
 */
export const hashTerm = (hash: Uint8Array): string => Buffer.from(hash).toString('base64url');

/** The clause for contents whose stored or decoded body has this hash. */
export const hashClause = (hash: Uint8Array): Clause => ({
  term: { hashes: hashTerm(hash) },
});
