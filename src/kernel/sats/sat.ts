import { strict as assert } from 'node:assert';
import type { Brand } from '#kernel/primitives/brand.ts';

/**
 * A sat by its ordinal number. This is its position, from 0, in the order in which sats are mined. It is not an amount
 * (`Sats`). All numbers are safe integers.
 */
export type Sat = Brand<number, 'Sat'>;

/** The supply of sats. It is the sum of all subsidies, including subsidies that miners did not claim. */
export const satSupply = 2_099_999_997_690_000;
export const lastSat = (satSupply - 1) as Sat;

export function isSat(value: number): value is Sat {
  return Number.isInteger(value) && value >= 0 && value < satSupply;
}

/** Asserts that a number is the number of a sat. For results of arithmetic. */
export function asSat(value: number): Sat {
  assert(isSat(value), `${value} is not the number of a sat`);
  return value;
}

/** A number that is known to be the number of a sat, for rows and loops over ranges. Not checked. */
export function trustedSat(value: number): Sat {
  return value as Sat;
}
