import { maxU128 } from './u128.ts';

/** An amount in base units, or why a text has none, in words after the name of its field. */
export type ReadAmount =
  | { readonly kind: 'read'; readonly amount: bigint }
  | { readonly kind: 'refused'; readonly reason: string };

/** Longer texts are no amounts: 39 digits, 38 decimals and an exponent have fewer characters. */
const charsMax = 100;
/** Larger exponents make no amount that fits, and would take time to write out. */
const exponentMax = 60;
const decimalForm = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<decimals>\d+))?(?:[eE](?<exponent>[+-]?\d{1,9}))?$/u;

/**
 * Reads an amount in display units, as JSON writes numbers: `1`, `0.05`, `1.0E-8`. Nothing is rounded: more decimals
 * than the divisibility are refused, as are 0, less than 0, and more than 2^128 - 1 base units. Total.
 *
 * @param divisibility decimals of the token, 0 to 38
 */
export function readAmount(text: string, divisibility: number): ReadAmount {
  const written = decimalOf(text);
  if ('reason' in written) return { kind: 'refused', ...written };
  const { digits, exponent } = written;
  if (digits <= 0n) return refused('must be above 0');
  const places = exponent + divisibility;
  const amount = places < 0 ? digits / 10n ** BigInt(-places) : digits * 10n ** BigInt(places);
  if (places < 0 && amount * 10n ** BigInt(-places) !== digits)
    return refused(`has more than ${divisibility} decimals, which is all that the token has`);
  return amount > maxU128 ? refused('is above 2^128 - 1 base units') : { kind: 'read', amount };
}

/** A number in decimal notation as digits × 10^exponent, or the reason why it is not a number. */
function decimalOf(
  text: string,
): { readonly digits: bigint; readonly exponent: number } | { readonly reason: string } {
  if (text.length > charsMax) return { reason: `has more than ${charsMax} characters` };
  const { sign = '', whole, decimals = '', exponent = '0' } = decimalForm.exec(text)?.groups ?? {};
  if (whole === undefined) return { reason: 'must be a number in digits' };
  const shift = Number(exponent);
  if (Math.abs(shift) > exponentMax) return { reason: `has an exponent beyond ${exponentMax}` };
  return {
    digits: BigInt(`${whole}${decimals}`) * (sign === '-' ? -1n : 1n),
    exponent: shift - decimals.length,
  };
}

const refused = (reason: string): ReadAmount => ({ kind: 'refused', reason });
