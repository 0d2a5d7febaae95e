import { type InscriptionKey, trustedInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { countBits, eachBit } from './id-set.ts';
import type { KeyPart } from './key-columns.ts';

/** The matches in a part. Bit i of `bits` belongs to the key `firstKey + i`. */
export interface PartMatches {
  readonly part: KeyPart;
  readonly bits: Uint8Array;
}

/** Matches all keys of a part. */
export function allOf(part: KeyPart): PartMatches {
  const count = part.nextKey - part.firstKey;
  const bits = new Uint8Array(Math.ceil(count / 8)).fill(0xff);
  if (count % 8 !== 0) bits[bits.length - 1] = (1 << (count % 8)) - 1;
  return { part, bits };
}

export const noneOf = (part: KeyPart): PartMatches => ({
  part,
  bits: new Uint8Array(Math.ceil((part.nextKey - part.firstKey) / 8)),
});

/** Adds keys in any order. Each key must be in one of the parts. Parts ascend. */
export function addKeys(matches: readonly PartMatches[], keys: Iterable<number>): void {
  for (const key of keys) {
    const found = matches[lastBelow(matches, key)];
    if (found === undefined || key >= found.part.nextKey) continue;
    const index = key - found.part.firstKey;
    found.bits[index >>> 3] = found.bits[index >>> 3]! | (1 << (index & 7));
  }
}

/** The index of the last part that begins at or before a key. -1: there is no such part. */
function lastBelow(matches: readonly PartMatches[], key: number): number {
  let from = 0;
  let to = matches.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((matches[middle] as PartMatches).part.firstKey <= key) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}

/** Drops all keys except those from `first` to below `next`. */
export function keepRange({ part, bits }: PartMatches, first: number, next: number): void {
  const from = Math.min(Math.max(first - part.firstKey, 0), bits.length * 8);
  const to = Math.min(Math.max(next - part.firstKey, from), bits.length * 8);
  bits.fill(0, 0, from >>> 3);
  if ((from & 7) !== 0) bits[from >>> 3] = bits[from >>> 3]! & (0xff << (from & 7));
  if ((to & 7) !== 0) bits[to >>> 3] = bits[to >>> 3]! & ((1 << (to & 7)) - 1);
  bits.fill(0, (to + 7) >>> 3);
}

/** The number of matches. */
export const countOf = (matches: readonly PartMatches[]): number =>
  matches.reduce((sum, { bits }) => sum + countBits(bits), 0);

/** The number of matches with keys from `first` to below `next`. */
export function countRange(matches: readonly PartMatches[], first: number, next: number): number {
  let count = 0;
  for (const { part, bits } of matches) {
    if (part.nextKey <= first || part.firstKey >= next) continue;
    if (part.firstKey >= first && part.nextKey <= next) {
      count += countBits(bits);
      continue;
    }
    const from = Math.max(0, first - part.firstKey);
    const to = Math.min(part.nextKey, next) - part.firstKey;
    // clear the bits outside the range in the first and the last byte
    const middle = bits.slice(from >>> 3, (to + 7) >>> 3);
    middle[0] = middle[0]! & (0xff << (from & 7));
    if ((to & 7) !== 0) middle[middle.length - 1] = (middle.at(-1) as number) & ((1 << (to & 7)) - 1);
    count += countBits(middle);
  }
  return count;
}

/** Skips the first `skip` keys and returns at most `limit` keys, ascending or descending. */
export function takeKeys(
  matches: readonly PartMatches[],
  isDescending: boolean,
  skip: number,
  limit: number,
): InscriptionKey[] {
  const keys: InscriptionKey[] = [];
  let left = skip;
  for (const { part, bits } of isDescending ? matches.toReversed() : matches) {
    if (keys.length >= limit) break;
    const count = countBits(bits);
    if (count <= left) {
      left -= count;
      continue;
    }
    const found: number[] = [];
    eachBit(bits, (index) => found.push(part.firstKey + index));
    if (isDescending) found.reverse();
    for (let at = left; at < found.length && keys.length < limit; at++)
      keys.push(trustedInscriptionKey(found[at]!));
    left = 0;
  }
  return keys;
}
