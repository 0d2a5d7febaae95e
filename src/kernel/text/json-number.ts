/** Maximum number of digits that `toExponential` writes. A number with more digits is refused. */
const digitsMax = 100;

/**
 * Whether a number is the same as its JSON text, rounded to as many digits as the text has. So texts of any program
 * that writes numbers of 64 bits pass, with any number of digits, and `9007199254740993`, `1e400` and
 * `3.14159265358979323846` do not.
 *
 * @param source the number as JSON writes it
 * @param value result of `JSON.parse`
 */
export function isKept(source: string, value: number): boolean {
  const written = partsOf(source);
  if (written.digits === '') return value === 0;
  if (value === 0 || !Number.isFinite(value) || written.digits.length > digitsMax) return false;
  const printed = partsOf(value.toExponential(written.digits.length - 1));
  if (printed.exponent === written.exponent && printed.digits === written.digits) return true;
  // halfway between two texts `toExponential` takes the upper one, and others may take the even one
  const whole = partsOf(value.toExponential(digitsMax));
  return whole.exponent === written.exponent && whole.digits === `${written.digits}5`;
}

/** A number as 0.<digits> × 10^exponent, without zeros at either end of the digits. */
function partsOf(text: string): { readonly digits: string; readonly exponent: number } {
  const [, whole = '', decimals = '', power = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/u.exec(text) ?? [];
  const all = whole + decimals;
  const first = all.search(/[1-9]/u);
  if (first === -1) return { digits: '', exponent: 0 };
  let end = all.length;
  while (all[end - 1] === '0') end--;
  return { digits: all.slice(first, end), exponent: whole.length - first + Number(power) };
}
