import { setImmediate as nextTurn } from 'node:timers/promises';
import { phraseLetters } from './gram-text.ts';
import { PhraseBook, phraseLengthMax } from './phrase-book.ts';

/** Of each text so much is looked at: boilerplate stands at the beginning. */
const textLengthMax = 1000;
/** All texts together: to count their pieces of one length takes some 40 ms, within which the event loop stands still. */
const lengthMax = 150_000;
/** UTF-16 units of the pieces that phrases grow from: short ones that very many texts have, and long ones that few have. */
const seedLengths = [6, 12, 24] as const;
const shortest = seedLengths[0];
/** A phrase that shortens all texts by less makes needles more expensive than it is worth: each one can begin and end in it. */
const savedShareMin = 0.005;
/** A piece that is followed by many different things ends where a tenth of its texts would be left. */
const leftShareMin = 0.1;

/** What is left of a text: pieces between the phrases that were taken out. */
type Rest = readonly string[];

/**
 * The phrases that make folded texts shortest when each of them is one letter: one after the other the one that saves most of what
 * is left. The event loop gets a turn after each.
 */
export async function learnPhrases(
  texts: readonly string[],
  phrasesMax: number = phraseLetters.length,
): Promise<string[]> {
  let rests = sampleOf(texts);
  const least = rests.reduce((sum, [text = '']) => sum + text.length, 0) * savedShareMin;
  const phrases: string[] = [];
  const refused = new Set<string>();
  while (phrases.length < phrasesMax) {
    let best: Grown | null = null;
    for (const length of seedLengths) {
      await nextTurn();
      const seed = mostFrequent(rests, length, refused);
      const grown = seed === null ? null : grow(rests, seed);
      if (grown !== null && grown.saved > (best?.saved ?? 0)) best = grown;
    }
    if (best === null || best.saved < least) break;
    const { phrase, seed } = best;
    if (isBook([...phrases, phrase])) {
      phrases.push(phrase);
      rests = rests.map((rest) => rest.flatMap((piece) => without(piece, phrase)));
    } else {
      refused.add(seed);
    }
  }
  return phrases;
}

interface Grown {
  readonly seed: string;
  readonly phrase: string;
  readonly saved: number;
}

function sampleOf(texts: readonly string[]): Rest[] {
  const sample: Rest[] = [];
  let length = 0;
  for (const text of texts) {
    const beginning = text.slice(0, textLengthMax);
    length += beginning.length;
    if (length > lengthMax) break;
    sample.push([beginning]);
  }
  return sample;
}

/** The piece of a length that most texts have; null: no two have one. */
function mostFrequent(
  rests: readonly Rest[],
  seedLength: number,
  refused: ReadonlySet<string>,
): string | null {
  // texts that have it, and the last one that was counted
  const counts = new Map<string, { texts: number; last: Rest }>();
  let best: string | null = null;
  let most = 1;
  for (const rest of rests) {
    for (const piece of rest) {
      for (let at = 0; at + seedLength <= piece.length; at++) {
        const seed = piece.slice(at, at + seedLength);
        const count = counts.get(seed);
        if (count === undefined) counts.set(seed, { texts: 1, last: rest });
        else if (count.last !== rest) {
          count.last = rest;
          count.texts++;
          if (count.texts > most && !refused.has(seed) && seed.isWellFormed()) {
            best = seed;
            most = count.texts;
          }
        }
      }
    }
  }
  return best;
}

interface Place {
  readonly piece: string;
  from: number;
  to: number;
}

/** Makes a seed longer at both ends, by what most texts have there; gives the length at which it saves most. */
function grow(rests: readonly Rest[], seed: string): Grown {
  let places: Place[] = rests.flatMap((rest) => {
    const piece = rest.find((one) => one.includes(seed));
    if (piece === undefined) return [];
    const from = piece.indexOf(seed);
    return [{ piece, from, to: from + seed.length }];
  });
  const least = places.length * leftShareMin;
  let phrase = seed;
  let best = { seed, phrase, saved: savedBy(phrase, places.length) };
  while (phrase.length < phraseLengthMax) {
    const before = mostCommon(places, ({ piece, from }) => piece[from - 1]);
    const behind = mostCommon(places, ({ piece, to }) => piece[to]);
    const isBefore = before.places.length > behind.places.length;
    const longer = isBefore ? before : behind;
    if (longer.places.length < Math.max(2, least)) break;
    places = longer.places;
    phrase = isBefore ? longer.unit + phrase : phrase + longer.unit;
    for (const place of places) {
      if (isBefore) place.from--;
      else place.to++;
    }
    const saved = savedBy(phrase, places.length);
    if (saved > best.saved && phrase.isWellFormed()) best = { seed, phrase, saved };
  }
  return best;
}

/** UTF-16 units that a letter in place of the phrase saves. */
const savedBy = (phrase: string, texts: number): number => (phrase.length - 1) * texts;

function mostCommon(
  places: readonly Place[],
  unitOf: (place: Place) => string | undefined,
): { unit: string; places: Place[] } {
  const byUnit = Map.groupBy(places, unitOf);
  byUnit.delete(undefined);
  const [most] = [...byUnit].toSorted(([, a], [, b]) => b.length - a.length);
  return { unit: most?.[0] ?? '', places: most?.[1] ?? [] };
}

function isBook(phrases: readonly string[]): boolean {
  try {
    return new PhraseBook(phrases).size === phrases.length;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** What is left of a piece: behind a phrase the next code point is always taken as it is. */
function without(piece: string, phrase: string): string[] {
  const [first = '', ...others] = piece.split(phrase);
  const behind = others.map((other) => other.slice(String.fromCodePoint(other.codePointAt(0) ?? 0).length));
  return [first, ...behind].filter(({ length }) => length >= shortest);
}
