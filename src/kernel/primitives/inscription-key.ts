import { strict as assert } from 'node:assert';
import type { Brand } from './brand.ts';

/**
 * The internal key of an inscription (chain.inscriptions.key). It is the position in the order of application, starting
 * at 0. Bounds of ranges of keys (`firstKey`, `nextKey`) have type number, because they need not belong to an
 * inscription.
 */
export type InscriptionKey = Brand<number, 'InscriptionKey'>;

/** Maximum key, because keys are integers of Postgres. */
const maxInscriptionKey = 2 ** 31 - 1;

/** Asserts that a number is a key. For results of arithmetic. */
export function asInscriptionKey(value: number): InscriptionKey {
  const isKey = Number.isInteger(value) && value >= 0 && value <= maxInscriptionKey;
  assert(isKey, `${value} is not the key of an inscription`);
  return value as InscriptionKey;
}

/** A number that is known to be a key, for typed arrays and loops over inscriptions. Not checked. */
export function trustedInscriptionKey(value: number): InscriptionKey {
  return value as InscriptionKey;
}

/** A copy of numbers that are known to be keys. Not checked. */
export function trustedInscriptionKeys(values: Iterable<number>): InscriptionKey[] {
  return [...values] as InscriptionKey[];
}

/** The keys from `first` to below `next`, ascending. Empty if `next` is not above `first`. Not checked. */
export function keysBetween(first: number, next: number): InscriptionKey[] {
  return Array.from({ length: Math.max(next - first, 0) }, (_, place) => (first + place) as InscriptionKey);
}
