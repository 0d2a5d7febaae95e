import type { Corpus, TextMatch, TextMatches } from '#kernel/contracts/search-engine.ts';
import { gramNeedle } from '#search/text/gram-text.ts';
import { editsOf } from '#search/text/words.ts';
import type { NeedleWays, PhraseBook } from './phrases/phrase-book.ts';
import { ShapeClauses } from './phrases/shape-clauses.ts';
import type { ShapeCounts } from './phrases/shapes.ts';
import { allOf, anyOf, type Clause, type Search } from './server/clause.ts';
import { type ElasticTuning, usualTuning } from './server/elastic-tuning.ts';

const wordFields: Readonly<Record<Corpus, string>> = { content: 'words', metadata: 'metadataWords' };

/** Code points of a gram. */
const gramPoints = 3;

/** What the text of a corpus must satisfy. */
export interface TextQuery {
  readonly clauses: readonly Clause[];
  /** Null: how many inscriptions match has to be counted. */
  readonly within: WithinPhrases | null;
}

/** Matches that are known without a look at their documents: of texts that have all needles within phrases. */
export interface WithinPhrases {
  readonly inscriptions: number;
  /** All other matches. */
  readonly others: Clause;
}

/** The phrases of the index that is asked, and what their combinations count. */
export interface Phrases {
  readonly book: PhraseBook;
  /** Asked for where a needle can stand in more than one way. Null: there are too many of them. */
  shapes(): Promise<ShapeCounts | null>;
  readonly search: Search;
}

type NamedShapes = Pick<ElasticTuning, 'namedShapesMax'>;

/** How the needles or words are asked for in the texts of a corpus; null: no text can have all of them. */
export async function textQuery(
  { corpus, match = 'substring', needles }: Omit<TextMatches, 'filter'>,
  phrases: Phrases,
  bounds: NamedShapes = usualTuning,
): Promise<TextQuery | null> {
  if (match === 'substring' && corpus === 'content') return contentQuery(needles, phrases, bounds);
  const clauses =
    match === 'substring' ? needleClauses('metadata', needles) : wordClauses(corpus, match, needles);
  return clauses === null ? null : { clauses, within: null };
}

/** Words are whole terms; a fuzzy one is any near one. */
function wordClauses(corpus: Corpus, match: TextMatch, words: readonly string[]): Clause[] | null {
  if (!words.every((word) => word.isWellFormed())) return null;
  const field = wordFields[corpus];
  return [...new Set(words)].map((word) =>
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
async function contentQuery(
  folded: readonly string[],
  phrases: Phrases,
  { namedShapesMax }: NamedShapes,
): Promise<TextQuery | null> {
  const needed = neededOf(folded);
  if (needed === null) return null;
  const ways = needed.map((needle) => phrases.book.waysOf(gramNeedle(needle)));
  // a search may be of filters alone
  if (ways.length === 0) return { clauses: [], within: null };
  const isFew = ways.length <= dividedMax;
  const isAsked = ways.some(({ phrases: within, parts }) => within.length > 0 || parts.length > 1);
  const shapes = new ShapeClauses(isAsked ? await phrases.shapes() : null, isFew ? namedShapesMax : 0);
  const needles = await Promise.all(
    ways.map(async ({ phrases: within, parts }) => ({
      phrases: within,
      parts: await possibleParts(shapes.partsOf(parts), phrases),
    })),
  );
  // a short one is also in many texts outside of their phrases: one sum over all is quicker than over those that are left
  const isDivided =
    isFew && needles.every(({ phrases: own }, at) => own.length > 0 && !isShort(needed[at] ?? ''));
  return isDivided
    ? dividedQuery(needles, shapes)
    : { clauses: needles.map((needle) => wayClause(needle, shapes)), within: null };
}

/** Code points of all parts of a needle: each is a clause to the server, which bounds them. */
const partsLengthMax = 2000;
/** Of these many at both ends a part is told from the others. */
const endLength = 16;

interface PartsAnswer {
  readonly aggregations: {
    readonly parts: { readonly buckets: Readonly<Record<string, { readonly doc_count: number }>> };
  };
}

/** Parts of a long needle differ at their ends alone: those whose ends are in no text are left out before all of each is asked for. */
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

/** A few needles, as what is divided grows with the square of their number, and the server bounds all clauses together. */
const dividedMax = 3;

/**
 * Most texts that have all of the needles have all of them within phrases, which their shape tells. They are a clause of their own:
 * where each of several clauses may also be a part, a server looks at every document of all of them.
 */
function dividedQuery(needles: readonly NeedleWays[], shapes: ShapeClauses): TextQuery {
  const others = anyOf(
    needles.map((needle, at) => {
      const rest = needles.filter((_, other) => other !== at);
      return allOf([anyOf(partClauses(needle)), ...rest.map((other) => wayClause(other, shapes))]);
    }),
  );
  const { clause, inscriptions } = shapes.with(needles);
  if (clause === null) return { clauses: [others], within: null };
  const rest = { bool: { filter: [others], must_not: [clause] } };
  return {
    clauses: [anyOf([clause, others])],
    within: inscriptions === null ? null : { inscriptions, others: rest },
  };
}

function wayClause(needle: NeedleWays, shapes: ShapeClauses): Clause {
  const { clause } = shapes.with([needle]);
  return anyOf([...(clause === null ? [] : [clause]), ...partClauses(needle)]);
}

const partClauses = (needle: NeedleWays): Clause[] => needle.parts.map((part) => needleClause('text', part));

/** The needles without those that say nothing more; null: one of them can be in no text. */
function neededOf(folded: readonly string[]): string[] | null {
  if (!folded.every((needle) => needle.isWellFormed())) return null;
  const distinct = [...new Set(folded)].toSorted((a, b) => b.length - a.length);
  // a needle that is part of another one says nothing more
  return distinct.filter(
    (needle, at) => !distinct.some((other, before) => before < at && other.includes(needle)),
  );
}

/** Of fewer code points than a gram. */
const isShort = (needle: string): boolean =>
  needle.length < gramPoints * 2 && Array.from(needle).length < gramPoints;

function needleClause(field: string, needle: string): Clause {
  return isShort(needle)
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
