/**
 * A word of an array. Throws RangeError where there is none: a wrong place would be a payment that is never seen.
 * Costs nothing, as the check is part of each read.
 */
export function wordAt(words: Uint32Array, place: number): number {
  const word = words[place];
  if (word === undefined) throw new RangeError(`no word ${place} of ${words.length}`);
  return word;
}
