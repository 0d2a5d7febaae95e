import { setImmediate as nextTurn } from 'node:timers/promises';
import { foldedOfGram, gramNeedle, phraseLetters } from '#search/text/gram-text.ts';
import { PhraseBook, phraseLengthMax } from './phrase-book.ts';

/** Maximum number of characters that are read from each text. Boilerplate is at the beginning. */
const textLengthMax = 1000;
/**
 * Maximum number of characters of all texts together. Counting their pieces of one length takes some 20 ms, and the
 * event loop waits meanwhile.
 */
const lengthMax = 100_000;
/**
 * UTF-16 units of the seeds that phrases grow from: short ones that very many texts share, and long ones that few
 * share.
 */
const seedLengths = [6, 12, 24] as const;
/**
 * Minimum share by which a phrase must shorten all texts. Each phrase makes needles more expensive, because a needle
 * can begin and end inside it.
 */
const savedShareMin = 0.005;
/** Minimum share of the texts with the seed that must continue in the same manner. Below it a phrase stops growing. */
const leftShareMin = 0.1;
/** Maximum number of consecutive failed attempts. After that, nothing more can be gained. */
const refusedMax = 12;

/**
 * The phrases that shorten folded texts most when each phrase is one letter. Greedy: each step adds the phrase that
 * saves most in addition to the chosen phrases. Takes up to a few seconds, and yields to the event loop after each pass
 * over the texts.
 */
export async function learnPhrases(texts: readonly string[], signal?: AbortSignal): Promise<string[]> {
  const sample = sampleOf(texts);
  const least = lengthOf(sample) * savedShareMin;
  const refused = new Set<string>();
  let chosen: Choice = { phrases: [], length: lengthOf(sample), rests: sample.map((text) => [text]) };
  let refusedInRow = 0;
  while (chosen.phrases.length < phraseLetters.length && refusedInRow < refusedMax) {
    signal?.throwIfAborted();
    const grown = await growSeeds(sample, chosen.rests, refused);
    if (grown.size === 0) break;
    const next = await bestOf(sample, chosen, grown);
    if (next !== null && next.length < chosen.length - least) {
      chosen = next;
      refusedInRow = 0;
    } else {
      for (const piece of [...grown].flatMap(piecesOf)) refused.add(piece);
      refusedInRow++;
    }
  }
  return chosen.phrases.map(foldedOfGram);
}

/** Chosen phrases, and the remaining texts: their total length, and the remaining pieces of each text. */
interface Choice {
  readonly phrases: readonly string[];
  readonly length: number;
  readonly rests: readonly (readonly string[])[];
}

/** The most frequent piece of the remaining texts, grown. It is tried alone, and combined with a chosen phrase. */
async function growSeeds(
  sample: readonly string[],
  rests: Choice['rests'],
  refused: ReadonlySet<string>,
): Promise<Set<string>> {
  const grown = new Set<string>();
  for (const seedLength of seedLengths) {
    await nextTurn();
    const seed = mostFrequent(rests, seedLength, refused);
    if (seed === null) continue;
    for (const pieces of [rests.flat(), sample]) {
      await nextTurn();
      grown.add(grow(pieces, seed));
    }
  }
  return grown;
}

/** The choice plus the one candidate that leaves the shortest texts. Null: no candidate can be added. */
async function bestOf(
  sample: readonly string[],
  { phrases }: Choice,
  more: ReadonlySet<string>,
): Promise<Choice | null> {
  let best: { book: PhraseBook; phrases: readonly string[]; length: number } | null = null;
  for (const phrase of more) {
    await nextTurn();
    const together = [...phrases, phrase];
    const book = PhraseBook.tryOf(together);
    if (book === null) continue;
    const length = sample.reduce((sum, text) => sum + book.lengthOf(text), 0);
    if (best === null || length < best.length) best = { book, phrases: together, length };
  }
  if (best === null) return null;
  const { book, length } = best;
  return { phrases: best.phrases, length, rests: sample.map((text) => book.restOf(text)) };
}

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, { length }) => sum + length, 0);

/** The beginnings of the texts, in the form in which they are analysed. */
function sampleOf(texts: readonly string[]): string[] {
  const sample: string[] = [];
  let length = 0;
  for (const text of texts) {
    const beginning = gramNeedle(text.slice(0, textLengthMax));
    length += beginning.length;
    if (length > lengthMax) break;
    sample.push(beginning);
  }
  return sample;
}

/** The most frequent piece of a length in the remaining texts. Null: no piece occurs in two texts. */
function mostFrequent(
  rests: Choice['rests'],
  seedLength: number,
  refused: ReadonlySet<string>,
): string | null {
  // by piece: the number of texts with it, and the last text that was counted
  const counts = new Map<string, { texts: number; last: readonly string[] }>();
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

/** Grows a seed at both ends with the text that most of its texts have there, up to the length that saves most. */
function grow(pieces: readonly string[], seed: string): string {
  let places: Place[] = pieces.flatMap((piece) => {
    const from = piece.indexOf(seed);
    return from < 0 ? [] : [{ piece, from, to: from + seed.length }];
  });
  const least = places.length * leftShareMin;
  let phrase = seed;
  let best = { phrase, saved: savedBy(phrase, places.length) };
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
    if (saved > best.saved && phrase.isWellFormed()) best = { phrase, saved };
  }
  return best.phrase;
}

/** UTF-16 units saved by a letter in place of the phrase. */
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

/** Seeds that would grow to the same phrase. */
const piecesOf = (phrase: string): string[] =>
  seedLengths.flatMap((length) =>
    Array.from({ length: Math.max(0, phrase.length - length + 1) }, (_, at) => phrase.slice(at, at + length)),
  );
