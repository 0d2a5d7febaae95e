import { randomInt } from 'node:crypto';

/**
 * A random odd factor of 32 bits for a multiplicative hash (Knuth). With fixed factors a person could choose thousands
 * of needles with one home place in a hash table, and each look-up near this place would pass over all of them.
 */
export const randomFactor = (): number => (randomInt(2 ** 31) << 1) | 1;
