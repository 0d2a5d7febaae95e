import { maxU128 } from './u128.ts';

/** An amount in base units, or the fault of its text. The words of the fault follow the name of a field. */
export type ReadAmount =
  | { readonly kind: 'read'; readonly amount: bigint }
  | { readonly kind: 'refused'; readonly reason: string };

/** Maximum number of characters of an amount. An amount of 39 digits, 38 decimals and an exponent is shorter. */
const charsMax = 100;
/** Maximum exponent. A larger exponent never makes a valid amount, and would take time to write out. */
const exponentMax = 60;
/** Maximum number of decimals of a rune. */
const decimalsMax = 38;
const decimalForm = /^(?<sign>-?)(?<whole>\d+)(?:\.(?<decimals>\d+))?(?:[eE](?<exponent>[+-]?\d{1,9}))?$/u;

/**
 * Parses an amount in display units, as JSON writes numbers: `1`, `0.05`, `1.0E-8`. Nothing is rounded. Amounts with
 * more decimals than the divisibility are refused. So are 0, negative amounts, and more than 2^128 - 1 base units.
 * Never throws.
 *
 * @param divisibility decimals of the token, 0 to 38
 */
export function readAmount(text: string, divisibility: number): ReadAmount {
  const written = decimalOf(text);
  if ('reason' in written) return { kind: 'refused', ...written };
  if (written.digits <= 0n) return refused('must be above 0');
  const amount = unitsOf(written, divisibility);
  if (amount === null) return refused(`has more than ${divisibility} decimals, the maximum of this token`);
  return amount > maxU128 ? refused('is above 2^128 - 1 base units') : { kind: 'read', amount };
}

/**
 * The reason why no rune can have such an amount. Its words follow the name of a field. `null` if the amount is valid
 * for some rune. Never throws.
 */
export function amountFault(text: string): string | null {
  const written = decimalOf(text);
  if ('reason' in written) return written.reason;
  if (written.digits <= 0n) return 'must be above 0';
  const least = unitsOf(written, decimalsMax);
  if (least === null) return `has more than ${decimalsMax} decimals, the maximum of all runes`;
  return least / 10n ** BigInt(decimalsMax) > maxU128 ? 'is above 2^128 - 1 base units' : null;
}

/**
 * Parses a whole number of at least 0, as JSON writes numbers: `1000`, `1.0E3`. `null` for any other text. Never
 * throws.
 */
export function readWhole(text: string): bigint | null {
  const written = decimalOf(text);
  return 'reason' in written || text.startsWith('-') ? null : unitsOf(written, 0);
}

/** A number in decimal notation: digits × 10^exponent. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Base units of a number. `null` if the number has more decimals than the divisibility. */
function unitsOf({ digits, exponent }: Decimal, divisibility: number): bigint | null {
  const places = exponent + divisibility;
  if (places >= 0) return digits * 10n ** BigInt(places);
  const unit = 10n ** BigInt(-places);
  return digits % unit === 0n ? digits / unit : null;
}

/** A text as a number, or the reason why the text is not a number. */
function decimalOf(text: string): Decimal | { readonly reason: string } {
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
