import { strict as assert } from 'node:assert';
import type { Brand } from './brand.ts';

/** An amount of the chain in sats. It is a safe integer, because the supply is a safe integer (ADR 8). */
export type Sats = Brand<number, 'Sats'>;

export const noSats = 0 as Sats;

export function isSats(value: unknown): value is Sats {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Asserts that a number is an amount. For results of arithmetic. */
export function asSats(value: number): Sats {
  assert(isSats(value), `${value} is not an amount of sats`);
  return value;
}

/** A number that is known to be an amount, for typed arrays and loops over outputs. Not checked. */
export function trustedSats(value: number): Sats {
  return value as Sats;
}
