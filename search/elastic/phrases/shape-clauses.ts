import { anyOf, type Clause } from '#search/elastic/server/clause.ts';
import { phraseLetters } from '#search/text/gram-text.ts';
import type { NeedleWays } from './phrase-book.ts';
import type { ShapeCounts } from './shapes.ts';

/** Texts that have needles inside their phrases, as their shapes show. */
export interface WithinShapes {
  /** Null: no such texts exist. */
  readonly clause: Clause | null;
  /** Number of inscriptions with such a text. Null: unknown. */
  readonly inscriptions: number | null;
}

/**
 * Maximum number of comparisons of parts with shapes in one go. 32 needles have some thousand parts, and the event loop
 * waits.
 */
const comparedMax = 256;

const phraseLetter = new RegExp(`[${phraseLetters}]`, 'gu');

const none: WithinShapes = { clause: null, inscriptions: 0 };

/** Makes clauses for texts with a combination of phrases. */
export class ShapeClauses {
  readonly #counts: ShapeCounts | null;
  readonly #namedMax: number;

  /** `counts` null: unknown. `namedMax`: maximum number of shapes that one clause names. */
  constructor(counts: ShapeCounts | null, namedMax: number) {
    this.#counts = counts;
    this.#namedMax = namedMax;
  }

  /** The parts of a needle that some text can have. A part is omitted if no text has all of its phrases. */
  partsOf(parts: readonly string[]): readonly string[] {
    const counts = this.#counts;
    if (counts === null || counts.size > comparedMax) return parts;
    const shapes = [...counts.keys()];
    return parts.filter((part) => {
      const letters = part.match(phraseLetter) ?? [];
      return (
        letters.length === 0 || shapes.some((shape) => letters.every((letter) => shape.includes(letter)))
      );
    });
  }

  /** Texts that have each of the needles inside a phrase. */
  with(needles: readonly NeedleWays[]): WithinShapes {
    if (needles.some(({ phrases }) => phrases.length === 0)) return none;
    const counts = this.#counts;
    if (counts === null) return { clause: patternClause(needles), inscriptions: null };
    const shapes = [...counts.keys()].filter((shape) => isWithin(needles, shape));
    if (shapes.length === 0) return none;
    const inscriptions = shapes.reduce((sum, shape) => sum + (counts.get(shape) ?? 0), 0);
    return {
      // a text has one shape, so the server visits each document of the matching shapes once
      clause:
        shapes.length > this.#namedMax
          ? patternClause(needles)
          : anyOf(shapes.map((shape) => ({ term: { shape } }))),
      inscriptions,
    };
  }
}

const isWithin = (needles: readonly NeedleWays[], shape: string): boolean =>
  needles.every(({ phrases }) => phrases.some((letter) => shape.includes(letter)));

/** One clause for any number of shapes. The server first collects the documents of all these shapes. */
function patternClause(needles: readonly NeedleWays[]): Clause {
  const value = needles.map(({ phrases }) => `.*[${phrases.join('')}].*`).join('&');
  return { regexp: { shape: { value, flags: 'INTERSECTION' } } };
}
