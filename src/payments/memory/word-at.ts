/**
 * Reads a word of an array. Throws RangeError if the index is outside the array, because a wrong index would hide a
 * payment. The check has no extra cost, because each read of an array makes the same check anyway.
 */
export function wordAt(words: Uint32Array, place: number): number {
  const word = words[place];
  if (word === undefined) throw new RangeError(`no word ${place} of ${words.length}`);
  return word;
}
