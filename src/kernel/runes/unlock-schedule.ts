import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { asRune, isReservedRune, type Rune } from './rune.ts';

/*
 * Short names become free over the 210,000 blocks after a network's first rune height. There are twelve steps. Each
 * step frees the names of the next shorter length, evenly from the last name to the first (ord
 * crates/ordinals/src/rune.rs).
 */

const steps = 12;
const stepBlocks = 210_000 / steps;
const lettersAlwaysFree = steps + 1;

/** The first name of `length` letters. */
function firstOfLength(length: number): bigint {
  let first = 0n;
  for (let letters = 1; letters < length; letters++) first = (first + 1n) * 26n;
  return first;
}

/** The lowest name that a block at `height` may etch. */
export function minimumRuneAt({ firstRuneHeight }: NetworkParameters, height: number): Rune {
  // ord uses the height of the next block
  const progress = height + 1 - firstRuneHeight;
  if (progress < 0) return asRune(firstOfLength(lettersAlwaysFree));
  if (progress >= steps * stepBlocks) return asRune(0n);
  const letters = steps - Math.floor(progress / stepBlocks);
  const above = firstOfLength(letters + 1);
  const below = firstOfLength(letters);
  return asRune(above - ((above - below) * BigInt(progress % stepBlocks)) / BigInt(stepBlocks));
}

/** The first height at which a block may etch a name. `null` if the name is reserved. */
export function unlockHeight({ firstRuneHeight }: NetworkParameters, rune: Rune): number | null {
  if (isReservedRune(rune)) return null;
  if (rune >= firstOfLength(lettersAlwaysFree)) return 0;
  let letters = 1;
  while (rune >= firstOfLength(letters + 1)) letters++;
  const above = firstOfLength(letters + 1);
  const below = firstOfLength(letters);
  const within = ((above - rune) * BigInt(stepBlocks) - 1n) / (above - below);
  return firstRuneHeight + (steps - letters) * stepBlocks + Number(within);
}
