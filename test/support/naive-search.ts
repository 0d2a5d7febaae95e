import { createHash } from 'node:crypto';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import type { StoredInscription } from './search-rows.ts';

// The rules of docs/search.md as a scan of everything. It shares no code with an engine: texts are compared by
// regular expressions, which fold as the language says (flags i and u: Unicode simple case folding).

export interface NaiveAnswer {
  readonly keys: readonly number[];
  readonly totalItems: number;
}

export interface NaivePage {
  readonly page: number;
  readonly itemsPerPage: number;
}

/** NUL and its picture, U+2400, are equal. */
function patternOf(needle: string): RegExp {
  const points = Array.from(needle, (character) => {
    const point = character.codePointAt(0)!;
    return point === 0 || point === 0x2400 ? '[\\0\\u2400]' : `\\u{${point.toString(16)}}`;
  });
  return new RegExp(points.join(''), 'iu');
}

function textOf(inscription: StoredInscription, corpus: Corpus): string | null {
  return corpus === 'content' ? (inscription.content?.text ?? null) : inscription.metadata;
}

/** Inscriptions whose text contains all needles (as they were given, not folded). */
export function naiveTextSearch(
  inscriptions: readonly StoredInscription[],
  corpus: Corpus,
  needles: readonly string[],
  page: NaivePage,
): NaiveAnswer {
  const patterns = needles.map(patternOf);
  return pageOf(
    inscriptions.filter((inscription) => {
      const text = textOf(inscription, corpus);
      return text !== null && patterns.every((pattern) => pattern.test(text));
    }),
    page,
  );
}

/** Inscriptions whose stored or decoded body has a hash. */
export function naiveHashSearch(
  inscriptions: readonly StoredInscription[],
  hash: Uint8Array,
  page: NaivePage,
): NaiveAnswer {
  const wanted = Buffer.from(hash).toString('hex');
  const hashOf = (bytes: Uint8Array | undefined): string | null =>
    bytes === undefined ? null : createHash('sha256').update(bytes).digest('hex');
  return pageOf(
    inscriptions.filter(
      ({ content }) => hashOf(content?.body) === wanted || hashOf(content?.decoded) === wanted,
    ),
    page,
  );
}

function pageOf(found: readonly StoredInscription[], { page, itemsPerPage }: NaivePage): NaiveAnswer {
  const keys = found.map(({ key }) => key).toSorted((a, b) => a - b);
  const offset = (page - 1) * itemsPerPage;
  return { keys: keys.slice(offset, offset + itemsPerPage), totalItems: keys.length };
}
