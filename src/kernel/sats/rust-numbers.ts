/*
 * Numbers as Rust's standard library reads and prints them: ord's notations of sats and its messages depend on it.
 */

export type RustNumber<Value> = { readonly value: Value } | { readonly fault: string };

const maxBits = { 32: 2n ** 32n - 1n, 64: 2n ** 64n - 1n } as const;

/** `str::parse::<u32>` and `::<u64>`: a sign `+` and zeros before the number are allowed. */
export function parseUnsigned(text: string, bits: keyof typeof maxBits): RustNumber<bigint> {
  if (text === '') return { fault: 'cannot parse integer from empty string' };
  const digits = text.startsWith('+') ? text.slice(1) : text;
  if (digits === '') return { fault: 'invalid digit found in string' };
  let value = 0n;
  // the first fault from the left counts
  for (const character of digits) {
    if (!/^[0-9]$/u.test(character)) return { fault: 'invalid digit found in string' };
    value = value * 10n + BigInt(character);
    if (value > maxBits[bits]) return { fault: 'number too large to fit in target type' };
  }
  return { value };
}

/** `str::parse::<f64>` of finite numbers. */
export function parseDouble(text: string): RustNumber<number> {
  if (text === '') return { fault: 'cannot parse float from empty string' };
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:E[+-]?\d+)?$/iu.test(text)) return { value: Number(text) };
  const isNegative = text.startsWith('-');
  if (/^[+-]?inf(?:inity)?$/iu.test(text)) return { value: isNegative ? -Infinity : Infinity };
  return /^[+-]?nan$/iu.test(text) ? { value: Number.NaN } : { fault: 'invalid float literal' };
}

/** A finite double from 0 on as `{}` prints it: the shortest digits that lead back to it, never an exponent. */
export function decimalDigits(value: number): string {
  const [digits = '', exponent] = String(value).split('e');
  if (exponent === undefined) return digits;
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  // only tiny numbers have exponents here: percentiles end at 100
  return shift < 0
    ? `0.${'0'.repeat(-shift - 1)}${whole}${fraction}`
    : `${whole}${fraction.padEnd(shift, '0')}`;
}
