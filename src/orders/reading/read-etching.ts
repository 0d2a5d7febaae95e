import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';
import { readAmount, readWhole } from '#kernel/runes/read-amount.ts';
import { isReservedRune } from '#kernel/runes/rune.ts';
import { type Etching, plainEtching } from '#kernel/runes/runestone/artifact.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import type { SpacedRune } from '#kernel/runes/spaced-rune.ts';
import type { Terms } from '#kernel/runes/terms.ts';
import { asU128, maxU64, maxU128, type U128 } from '#kernel/runes/u128.ts';
import { readRuneName } from './read-rune-name.ts';

/** Maximum number of decimals of a rune (ord crates/ordinals/src/etching.rs, MAX_DIVISIBILITY). */
const divisibilityMax = 38;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the etching of an order: fields of the public interface (POST /runes/etch), with amounts in units of the rune.
 * If `rune` is absent, ord assigns the name. Never throws. If `values` has faults, the result is not used.
 */
export function readEtching(values: RequestValues, order: Fields): Etching {
  const name = readName(values, order['rune']);
  const divisibility = readDivisibility(values, order['divisibility']);
  const etching: Etching = {
    ...plainEtching,
    rune: name?.rune ?? null,
    spacers: name === null || name.spacers === 0 ? null : name.spacers,
    symbol: readSymbol(values, order['symbol']),
    turbo: values.boolean(order['turbo'], 'turbo'),
  };
  // amounts cannot be checked without the divisibility
  if (divisibility === null) return etching;
  const faults = values.faults.length;
  const premine = readUnits(values, order['premine'], 'premine', divisibility);
  const terms = readTerms(values, order['terms'], divisibility);
  // a faulty amount would give a wrong sum
  if (values.faults.length === faults) checkSupply(values, { premine, terms, divisibility }, order['supply']);
  return { ...etching, divisibility: divisibility === 0 ? null : divisibility, premine, terms };
}

function readName(values: RequestValues, given: unknown): SpacedRune | null {
  const name = readRuneName(values, given);
  if (name === null || !isReservedRune(name.rune)) return name;
  const why =
    'rune is a reserved name, which ord gives to etchings without a name. Choose another name, or leave rune out.';
  values.sentence('rune', why);
  return null;
}

/** Reads the number of decimals of amounts. Returns null if it is invalid; the fault is then in `values`. */
function readDivisibility(values: RequestValues, given: unknown): number | null {
  const divisibility = values.whole(given, 'divisibility');
  if (divisibility === null) return isGiven(given) ? null : 0;
  if (divisibility <= BigInt(divisibilityMax)) return Number(divisibility);
  return values.fault('divisibility', `must be from 0 to ${divisibilityMax}`);
}

/** Reads one character as a code point. U+0000 is allowed; half of a surrogate pair is not. */
function readSymbol(values: RequestValues, given: unknown): number | null {
  if (!isGiven(given)) return null;
  const [symbol, ...others] = typeof given === 'string' ? given : [];
  const isOne = symbol !== undefined && others.length === 0 && symbol.isWellFormed();
  return isOne ? (symbol.codePointAt(0) ?? null) : values.fault('symbol', 'must be one character');
}

/**
 * Reads an amount in base units. Returns null if the amount is absent, 0 or invalid. If it is invalid, the fault is in
 * `values`.
 */
function readUnits(values: RequestValues, given: unknown, name: string, divisibility: number): U128 | null {
  const text = exactText(values, given, name);
  if (text === null || readWhole(text) === 0n) return null;
  const read = readAmount(text, divisibility);
  if (read.kind === 'read') return asU128(read.amount);
  return values.fault(name, read.reason);
}

/**
 * Reads a number as digits. Returns null if the number is absent or invalid. If it is invalid, the fault is in
 * `values`.
 */
function exactText(values: RequestValues, given: unknown, name: string): string | null {
  if (!isGiven(given)) return null;
  if (typeof given === 'string') return given;
  if (typeof given !== 'number') return values.fault(name, 'must be a number, or a text of digits');
  // JSON.parse has already rounded such a number
  if (Math.abs(given) > Number.MAX_SAFE_INTEGER)
    return values.fault(name, 'is above 2^53 - 1, and larger JSON numbers are not exact; send it as a text');
  return String(given);
}

function readTerms(values: RequestValues, given: unknown, divisibility: number): Terms | null {
  if (!isGiven(given)) return null;
  const terms = values.object(given, 'terms');
  if (terms === null || !Object.values(terms).some(isNamed)) return null;
  for (const name of ['amount', 'cap']) values.required(terms[name], `terms.${name}`);
  const [heightStart, heightEnd] = readWindow(values, terms['height'], 'terms.height');
  const [offsetStart, offsetEnd] = readWindow(values, terms['offset'], 'terms.offset');
  return {
    amount: aboveZero(values, 'terms.amount', terms['amount'], (name) =>
      readUnits(values, terms['amount'], name, divisibility),
    ),
    cap: aboveZero(values, 'terms.cap', terms['cap'], (name) =>
      readInteger(values, terms['cap'], name, maxU128),
    ),
    heightStart,
    heightEnd,
    offsetStart,
    offsetEnd,
  };
}

/** Whether a field of the terms has a value. Clients without a value may send `{height: {start: null, end: null}}`. */
const isNamed = (field: unknown): boolean =>
  typeof field === 'object' && field !== null ? Object.values(field).some(isGiven) : isGiven(field);

function aboveZero(
  values: RequestValues,
  name: string,
  given: unknown,
  read: (name: string) => U128 | null,
): U128 | null {
  const faults = values.faults.length;
  const value = read(name);
  const isZero = isGiven(given) && (value === null || value === 0);
  return isZero && values.faults.length === faults ? values.fault(name, 'must be above 0') : value;
}

/**
 * Reads a whole number. Returns null if the number is absent or invalid. If it is invalid, the fault is in `values`.
 */
function readInteger(values: RequestValues, given: unknown, name: string, most: bigint): U128 | null {
  const text = exactText(values, given, name);
  if (text === null) return null;
  const value = readWhole(text);
  if (value === null) return values.fault(name, 'must be a whole number of at least 0');
  return value <= most ? asU128(value) : values.fault(name, `is above ${boundWords(most)}`);
}

const boundWords = (most: bigint): string => (most === maxU64 ? '2^64 - 1' : '2^128 - 1');

/** Reads a range of heights or offsets: its first value, and its end, which is the first value after the range. */
function readWindow(
  values: RequestValues,
  given: unknown,
  name: string,
): readonly [start: U128 | null, end: U128 | null] {
  if (!isGiven(given)) return [null, null];
  const window = values.object(given, name);
  if (window === null) return [null, null];
  const start = readInteger(values, window['start'], `${name}.start`, maxU64);
  const end = readInteger(values, window['end'], `${name}.end`, maxU64);
  if (start !== null && end !== null && end <= start)
    values.fault(`${name}.end`, `must be above ${name}.start, because otherwise no block could have a mint`);
  return [start, end];
}

/** Checks that the maximum supply fits into 128 bits, is above 0, and equals the supply that the order names. */
function checkSupply(
  values: RequestValues,
  { premine, terms, divisibility }: Pick<Etching, 'premine' | 'terms'> & { readonly divisibility: number },
  given: unknown,
): void {
  const faults = values.faults.length;
  const supply = isGiven(given) ? (readUnits(values, given, 'supply', divisibility) ?? 0) : null;
  if (values.faults.length > faults) return;
  const most = BigInt(premine ?? 0) + mintable(terms);
  if (most === 0n) values.sentence('premine', 'An etching needs a premine, or terms for mints.');
  else if (most > maxU128) values.sentence('supply', 'premine + cap × amount is above 2^128 - 1 base units.');
  else if (supply !== null && BigInt(supply) !== most)
    values.fault(
      'supply',
      `must be premine + cap × amount, which is ${shownAmount(asU128(most), divisibility)}`,
    );
}

const mintable = (terms: Terms | null): bigint => BigInt(terms?.cap ?? 0) * BigInt(terms?.amount ?? 0);
