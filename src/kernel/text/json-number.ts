/** Maximum number of digits that `toExponential` writes. A number with more digits is refused. */
const digitsMax = 100;

/**
 * Whether a number equals its JSON text, if it is rounded to as many digits as the text has. So texts of any program
 * that writes numbers of 64 bits are accepted, with any number of digits. `9007199254740993`, `1e400` and
 * `3.14159265358979323846` are refused.
 *
 * @param source the number in the JSON text
 * @param value result of `JSON.parse`
 */
export function isKept(source: string, value: number): boolean {
  const written = partsOf(source);
  if (written.digits === '') return value === 0;
  if (value === 0 || !Number.isFinite(value) || written.digits.length > digitsMax) return false;
  const printed = partsOf(value.toExponential(written.digits.length - 1));
  if (printed.exponent === written.exponent && printed.digits === written.digits) return true;
  // halfway between two texts, `toExponential` uses the upper text, and other programs may use the even text
  const whole = partsOf(value.toExponential(digitsMax));
  return whole.exponent === written.exponent && whole.digits === `${written.digits}5`;
}

/** A number as 0.<digits> × 10^exponent. The digits have no zeros at either end. */
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
