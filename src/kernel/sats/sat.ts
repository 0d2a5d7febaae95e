import { strict as assert } from 'node:assert';
import type { Brand } from '#kernel/primitives/brand.ts';

/**
 * One sat by its ordinal number: the order in which sats are mined, from 0. Not an amount (`Sats`). All numbers are
 * safe integers.
 */
export type Sat = Brand<number, 'Sat'>;

/** The supply of sats: the sum of all subsidies, including those that miners did not claim. */
export const satSupply = 2_099_999_997_690_000;
export const lastSat = (satSupply - 1) as Sat;

export function isSat(value: number): value is Sat {
  return Number.isInteger(value) && value >= 0 && value < satSupply;
}

/** Asserts that a number is a sat's. For results of arithmetic. */
export function asSat(value: number): Sat {
  assert(isSat(value), `${value} is not the number of a sat`);
  return value;
}

/** A number that is known to be a sat's, for rows and loops over ranges. Not checked. */
export function trustedSat(value: number): Sat {
  return value as Sat;
}
