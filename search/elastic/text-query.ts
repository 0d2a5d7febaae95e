import type { Corpus } from '#kernel/contracts/search-engine.ts';

/** A clause of a filter, as Elasticsearch takes it. */
export type Clause = Readonly<Record<string, unknown>>;

const fields: Readonly<Record<Corpus, string>> = { content: 'text', metadata: 'metadata' };

/** Code points of a gram. */
const gramPoints = 3;

/**
 * The clauses that a text must satisfy to contain all of the folded needles, exactly; null where none can. A needle of three
 * and more code points is a phrase of its grams, whose positions follow each other. A shorter one begins a gram: every
 * code point of a text begins one, as texts end with two NULs.
 */
export function needleClauses(corpus: Corpus, folded: readonly string[]): Clause[] | null {
  if (folded.some((needle) => !needle.isWellFormed())) return null;
  const distinct = [...new Set(folded)].toSorted((a, b) => b.length - a.length);
  // a needle that is part of another one says nothing more
  const needles = distinct.filter(
    (needle, at) => !distinct.some((other, before) => before < at && other.includes(needle)),
  );
  return needles.map((needle) => needleClause(fields[corpus], needle));
}

function needleClause(field: string, needle: string): Clause {
  const isShort = needle.length < gramPoints * 2 && Array.from(needle).length < gramPoints;
  return isShort
    ? { prefix: { [field]: { value: needle } } }
    : { match_phrase: { [field]: { query: needle } } };
}

/** A hash as it stands in the index: random terms share no beginnings, so each of their bytes counts. */
export const hashTerm = (hash: Uint8Array): string => Buffer.from(hash).toString('base64url');

/** The clause of contents whose stored or decoded body has a hash. */
export const hashClause = (hash: Uint8Array): Clause => ({
  term: { hashes: hashTerm(hash) },
});

/** The clause of documents whose inscriptions have keys from `from` to below `to`; both are ends of spans or of the index. */
export const keysClause = (from: number, to: number): Clause => ({
  range: { firstKey: { gte: from, lt: to } },
});
