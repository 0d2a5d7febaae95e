import { strict as assert } from 'node:assert';
import type { Brand } from '#kernel/primitives/brand.ts';

/**
 * An integer from 0 to 2^128 - 1, for amounts of runes and integers of runestones. A safe integer is always a number,
 * and a larger integer is always a bigint. So `===` and `<` can compare any two values, and the common case allocates
 * nothing.
 */
export type U128 = Brand<number | bigint, 'U128'>;

export const maxU128 = (1n << 128n) - 1n;
export const maxU64 = (1n << 64n) - 1n;
export const zeroU128 = 0 as U128;

const maxSafe = BigInt(Number.MAX_SAFE_INTEGER);

/** Converts a bigint in range. Not checked. */
export function trustedU128(value: bigint): U128 {
  return (value <= maxSafe ? Number(value) : value) as U128;
}

/** Converts a safe integer of at least 0. Not checked. */
export function smallU128(value: number): U128 {
  return value as U128;
}

/**
 * Whether a value is above a bound that no safe integer reaches. A comparison of a number with a bigint takes many
 * times as long as this test of the type.
 */
export function isAbove(value: U128, bound: bigint): boolean {
  return typeof value === 'bigint' && value > bound;
}

/** Asserts that an integer is in range. */
export function asU128(value: number | bigint): U128 {
  if (typeof value === 'number') {
    assert(Number.isSafeInteger(value) && value >= 0, `${value} is not an exact integer from 0`);
    return value as U128;
  }
  assert(value >= 0n && value <= maxU128, `${value} does not fit 128 bits`);
  return trustedU128(value);
}

/** Converts decimal digits, as the database writes a numeric. Up to 15 digits are a safe integer. */
export function u128OfText(digits: string): U128 {
  return asU128(digits.length <= 15 ? Number(digits) : BigInt(digits));
}

export function u128OrNull(digits: string | null | undefined): U128 | null {
  return digits === null || digits === undefined ? null : u128OfText(digits);
}

/** The sum of two values. It never exceeds 2^128 - 1, because a rune with a larger supply would make a cenotaph. */
export function sumU128(a: U128, b: U128): U128 {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    if (sum <= Number.MAX_SAFE_INTEGER) return sum as U128;
  }
  return asU128(BigInt(a) + BigInt(b));
}

/** The sum of two values. Null if it exceeds 2^128 - 1. */
export function checkedSumU128(a: U128, b: U128): U128 | null {
  if (typeof a === 'number' && typeof b === 'number') return sumU128(a, b);
  const sum = BigInt(a) + BigInt(b);
  return sum > maxU128 ? null : trustedU128(sum);
}

/** The product of two values. Null if it exceeds 2^128 - 1. */
export function checkedProductU128(a: U128, b: U128): U128 | null {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    if (product <= Number.MAX_SAFE_INTEGER) return product as U128;
  }
  const product = BigInt(a) * BigInt(b);
  return product > maxU128 ? null : trustedU128(product);
}

/** The difference of two values. Asserts that it is not negative. */
export function differenceU128(a: U128, b: U128): U128 {
  if (typeof a === 'number' && typeof b === 'number') {
    // the text of a failed assertion is made only if it fails
    if (a < b) assert.fail(`${a} is less than ${b}`);
    return (a - b) as U128;
  }
  return asU128(BigInt(a) - BigInt(b));
}

/** A value divided by a count, rounded down, and the remainder. */
export function shareU128(value: U128, count: number): { readonly share: U128; readonly left: number } {
  if (typeof value === 'number') return { share: Math.floor(value / count) as U128, left: value % count };
  const divisor = BigInt(count);
  return { share: trustedU128(value / divisor), left: Number(value % divisor) };
}
