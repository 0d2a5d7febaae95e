/**
 * A word of an array. Throws RangeError for an index outside the array, because a wrong index would mean a payment that
 * is never seen. Costs nothing, because each read makes the same check anyway.
 */
export function wordAt(words: Uint32Array, place: number): number {
  const word = words[place];
  if (word === undefined) throw new RangeError(`no word ${place} of ${words.length}`);
  return word;
}
