/**
 * A word of an array. Throws RangeError outside of it: a wrong place would be a payment that is never seen. Costs
 * nothing, because the check is part of each read.
 */
export function wordAt(words: Uint32Array, place: number): number {
  const word = words[place];
  if (word === undefined) throw new RangeError(`no word ${place} of ${words.length}`);
  return word;
}
