import { createHash } from 'node:crypto';

/**
 * A stream of random numbers from a seed (sfc32, public domain). The same seed gives the same stream on every machine.
 */
export interface Random {
  /** A random integer, 0 … 2^32 − 1. */
  u32(): number;
  /** A random integer, 0 … bound − 1. */
  below(bound: number): number;
  /** A random number from 0 to below 1. */
  unit(): number;
  /** Fills `length` bytes of `target` with random bytes, from `offset` on. */
  fill(target: Uint8Array, offset: number, length: number): void;
}

export function seededRandom(seed: string): Random {
  const state = createHash('sha256').update(seed).digest();
  let a = state.readInt32LE(0);
  let b = state.readInt32LE(4);
  let c = state.readInt32LE(8);
  let counter = 1;
  const u32 = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let round = 0; round < 15; round++) u32();
  return {
    u32,
    below: (bound) => Math.floor((u32() / 2 ** 32) * bound),
    unit: () => u32() / 2 ** 32,
    fill(target, offset, length) {
      let word = 0;
      for (let i = 0; i < length; i++) {
        if ((i & 3) === 0) word = u32();
        target[offset + i] = word & 0xff;
        word >>>= 8;
      }
    },
  };
}

/** The values in a random order. */
export function shuffled<Value>(random: Random, values: readonly Value[]): Value[] {
  const left = [...values];
  const made: Value[] = [];
  while (left.length > 0) made.push(...left.splice(random.below(left.length), 1));
  return made;
}
