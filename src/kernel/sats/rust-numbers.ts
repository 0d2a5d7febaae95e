/*
 * Parses and prints numbers like Rust's standard library, because ord's notations of sats and ord's messages depend on
 * it.
 */

export type RustNumber<Value> = { readonly value: Value } | { readonly fault: string };

const maxBits = { 32: 2n ** 32n - 1n, 64: 2n ** 64n - 1n } as const;

/** Parses like `str::parse::<u32>` and `::<u64>`. A sign `+` and zeros before the number are allowed. */
export function parseUnsigned(text: string, bits: keyof typeof maxBits): RustNumber<bigint> {
  if (text === '') return { fault: 'cannot parse integer from empty string' };
  const digits = text.startsWith('+') ? text.slice(1) : text;
  if (digits === '') return { fault: 'invalid digit found in string' };
  let value = 0n;
  // report the first fault from the left
  for (const character of digits) {
    if (!/^[0-9]$/u.test(character)) return { fault: 'invalid digit found in string' };
    value = value * 10n + BigInt(character);
    if (value > maxBits[bits]) return { fault: 'number too large to fit in target type' };
  }
  return { value };
}

/** Parses finite numbers like `str::parse::<f64>`. */
export function parseDouble(text: string): RustNumber<number> {
  if (text === '') return { fault: 'cannot parse float from empty string' };
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:E[+-]?\d+)?$/iu.test(text)) return { value: Number(text) };
  const isNegative = text.startsWith('-');
  if (/^[+-]?inf(?:inity)?$/iu.test(text)) return { value: isNegative ? -Infinity : Infinity };
  return /^[+-]?nan$/iu.test(text) ? { value: Number.NaN } : { fault: 'invalid float literal' };
}

/**
 * The digits of a finite double of at least 0, as Rust's `{}` prints it. They are the shortest digits that result in
 * the same double, without an exponent.
 */
export function decimalDigits(value: number): string {
  const [digits = '', exponent] = String(value).split('e');
  if (exponent === undefined) return digits;
  const [whole = '', fraction = ''] = digits.split('.');
  const shift = Number(exponent);
  // only tiny numbers have exponents here, because percentiles end at 100
  return shift < 0
    ? `0.${'0'.repeat(-shift - 1)}${whole}${fraction}`
    : `${whole}${fraction.padEnd(shift, '0')}`;
}
