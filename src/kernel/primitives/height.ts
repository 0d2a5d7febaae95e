import { strict as assert } from 'node:assert';
import type { Brand } from './brand.ts';

/** The height of a block, which is the number of blocks below it in its chain. It is from 0 to `maxHeight`. */
export type Height = Brand<number, 'Height'>;

/** The largest height, because heights are integers in Postgres. */
export const maxHeight = (2 ** 31 - 1) as Height;
export const genesisHeight = 0 as Height;

export function isHeight(value: unknown): value is Height {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxHeight;
}

/** Asserts that a number is a height. For results of arithmetic and for values that another layer has checked. */
export function asHeight(value: number): Height {
  assert(isHeight(value), `${value} is not a height`);
  return value;
}

/** Parses a height of up to ten decimal digits. `null` for any other text. */
export function parseHeight(text: string): Height | null {
  const height = /^\d{1,10}$/u.test(text) ? Number(text) : null;
  return isHeight(height) ? height : null;
}

/** A number that is known to be a height, for typed arrays and rows. Not checked. */
export function trustedHeight(value: number): Height {
  return value as Height;
}
