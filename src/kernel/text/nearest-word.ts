import { comparedCodePointsMax, isWithinEdits } from './edit-distance.ts';

/**
 * Minimum length of a word for which two edits are allowed. In shorter words, two edits would match almost anything.
 */
const longWordMin = 4;

/**
 * The word that was probably meant. It is the known word with the fewest edits, or the first of several such words. At
 * most two edits are allowed, or one edit for words of up to three characters. `null` if no word is near.
 */
export function nearestWord(word: string, known: readonly string[]): string | null {
  const points = pointsOf(word);
  if (points.length > comparedCodePointsMax) return null;
  const editsMax = points.length < longWordMin ? 1 : 2;
  for (let edits = 1; edits <= editsMax; edits++) {
    const near = known.find((candidate) => {
      const others = pointsOf(candidate);
      if (others.length > comparedCodePointsMax) return false;
      return isWithinEdits(points, points.length, others, others.length, edits);
    });
    if (near !== undefined) return near;
  }
  return null;
}

function pointsOf(word: string): Int32Array {
  return Int32Array.from(word, (point) => point.codePointAt(0) ?? 0);
}
