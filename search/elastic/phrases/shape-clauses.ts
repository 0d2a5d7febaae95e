import { anyOf, type Clause } from '#search/elastic/server/clause.ts';
import { phraseLetters } from '#search/text/gram-text.ts';
import type { NeedleWays } from './phrase-book.ts';
import type { ShapeCounts } from './shapes.ts';

/** Texts that have needles within their phrases, which their shape tells. */
export interface WithinShapes {
  /** Null: there are no such texts. */
  readonly clause: Clause | null;
  /** How many inscriptions have such a text; null: not known. */
  readonly inscriptions: number | null;
}

/** Shapes that parts are compared with: 32 needles have some thousand parts, and the event loop waits. */
const comparedMax = 256;

const phraseLetter = new RegExp(`[${phraseLetters}]`, 'gu');

const none: WithinShapes = { clause: null, inscriptions: 0 };

/** Asks for texts by the combination of phrases that they have. */
export class ShapeClauses {
  private readonly counts: ShapeCounts | null;
  private readonly namedMax: number;

  /** `counts`: null where they are not known. `namedMax`: shapes that a clause names. */
  constructor(counts: ShapeCounts | null, namedMax: number) {
    this.counts = counts;
    this.namedMax = namedMax;
  }

  /** Those of the parts of a needle that a text can have: phrases that no text has together are in none. */
  partsOf(parts: readonly string[]): readonly string[] {
    const { counts } = this;
    if (counts === null || counts.size > comparedMax) return parts;
    const shapes = [...counts.keys()];
    return parts.filter((part) => {
      const letters = part.match(phraseLetter) ?? [];
      return (
        letters.length === 0 || shapes.some((shape) => letters.every((letter) => shape.includes(letter)))
      );
    });
  }

  /** Of texts that have each of the needles within a phrase. */
  with(needles: readonly NeedleWays[]): WithinShapes {
    if (needles.some(({ phrases }) => phrases.length === 0)) return none;
    const { counts } = this;
    if (counts === null) return { clause: patternClause(needles), inscriptions: null };
    const shapes = [...counts.keys()].filter((shape) => isWithin(needles, shape));
    if (shapes.length === 0) return none;
    const inscriptions = shapes.reduce((sum, shape) => sum + (counts.get(shape) ?? 0), 0);
    return {
      // a text has one shape: a server goes through the documents of those that match, and through none twice
      clause:
        shapes.length > this.namedMax
          ? patternClause(needles)
          : anyOf(shapes.map((shape) => ({ term: { shape } }))),
      inscriptions,
    };
  }
}

const isWithin = (needles: readonly NeedleWays[], shape: string): boolean =>
  needles.every(({ phrases }) => phrases.some((letter) => shape.includes(letter)));

/** One clause however many shapes there are; the server goes through the documents of all of them beforehand. */
function patternClause(needles: readonly NeedleWays[]): Clause {
  const value = needles.map(({ phrases }) => `.*[${phrases.join('')}].*`).join('&');
  return { regexp: { shape: { value, flags: 'INTERSECTION' } } };
}
