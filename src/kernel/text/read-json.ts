import { isKept } from './json-number.ts';
import { textFault } from './text-fault.ts';

/** A part of a JSON value that cannot be kept unchanged. */
export interface JsonFault {
  /** Path of the part, for example `files[2].name`. Empty if the fault is in the value itself. */
  readonly path: string;
  /** Whether the fault is in the name of a field of the object at the path. */
  readonly isName: boolean;
  /** Reason in words that follow the path. */
  readonly reason: string;
}

/** Result of reading. `broken` if the text is not JSON. `faulty` if there is at least one fault. */
export type ReadJson =
  | { readonly kind: 'read'; readonly value: unknown }
  | { readonly kind: 'broken' }
  | { readonly kind: 'faulty'; readonly faults: readonly [JsonFault, ...JsonFault[]] };

export interface JsonOptions {
  /**
   * Form of numbers in the result.
   * - `numbers`: a number that loses digits is a fault.
   * - `exact`: like `numbers`, but whole numbers from -2^63 to 2^64 - 1 are bigints if they exceed safe integers.
   * - `texts`: each number, whole or not, is the text that was sent, so amounts with 38 decimals keep all digits.
   */
  readonly wholeNumbers: 'numbers' | 'exact' | 'texts';
  /**
   * Maximum number of levels of lists and objects. `null` if the number is already bounded. Too many levels would
   * overflow the stacks of readers.
   */
  readonly depthMax: number | null;
}

/** Maximum number of faults that are reported. */
const faultsMax = 50;

/**
 * Reads JSON whose texts, names and numbers can all be kept unchanged. No text or name may have half of a surrogate
 * pair or a NUL, and no number may lose digits. Never throws. Costs little more than `JSON.parse` if nothing looks
 * suspicious.
 */
export function readJson(text: string, options: JsonOptions): ReadJson {
  const { depthMax, wholeNumbers } = options;
  if (depthMax !== null && depthOf(text) > depthMax) {
    const reason = `is nested deeper than ${depthMax} levels`;
    return { kind: 'faulty', faults: [{ path: '', isName: false, reason }] };
  }
  const isLong = wholeNumbers === 'texts' || hasLongNumbers(text);
  let value: unknown;
  try {
    value = isLong ? JSON.parse(text, keeping(options)) : JSON.parse(text);
  } catch {
    return { kind: 'broken' };
  }
  if (!isLong && !suspiciousEscape.test(text) && text.isWellFormed()) return { kind: 'read', value };
  const [first, ...others] = faultsIn(value);
  return first === undefined ? { kind: 'read', value } : { kind: 'faulty', faults: [first, ...others] };
}

/** A NUL, or a surrogate that may lack its other half. In JSON as UTF-8, they occur only as escapes. */
const suspiciousEscape = /\\u(?:0000|[dD][89a-fA-F])/u;

/** Replaces the value of a number that loses digits. */
const lostNumber = Symbol('a number that loses digits');

const leastInteger = -(2n ** 63n);
const mostInteger = 2n ** 64n - 1n;

/** A reviver that replaces numbers by bigints, texts and `lostNumber`, according to the options. */
function keeping({ wholeNumbers }: JsonOptions) {
  return (_name: string, value: unknown, { source }: { source?: string } = {}): unknown => {
    if (typeof value !== 'number' || source === undefined) return value;
    if (wholeNumbers === 'texts') return source;
    if (wholeNumbers === 'exact' && !Number.isSafeInteger(value) && integer.test(source))
      return wholeNumber(source);
    return isKept(source, value) ? value : lostNumber;
  };
}

function wholeNumber(source: string): bigint | typeof lostNumber {
  const whole = source.length > integerCharsMax ? null : BigInt(source);
  return whole !== null && whole >= leastInteger && whole <= mostInteger ? whole : lostNumber;
}

const integer = /^-?\d+$/u;
/** Maximum number of characters of an integer up to 2^64 - 1, with a sign. */
const integerCharsMax = 21;

const quote = 0x22;
const backslash = 0x5c;
/** Maximum number of digits for which numbers without an exponent are always exact. */
const safeDigits = 15;

/** Whether a number in a JSON text may lose digits, because it has many digits or an exponent. */
function hasLongNumbers(text: string): boolean {
  let digits = 0;
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place);
    if (code >= 0x30 && code <= 0x39) {
      if (++digits > safeDigits) return true;
    } else if (code !== 0x2e /* . */) {
      // E or e
      if (digits > 0 && (code | 0x20) === 0x65) return true;
      digits = 0;
      if (code === quote) place = endOfString(text, place);
    }
  }
  return false;
}

/** The number of nested levels of lists and objects in a JSON text. */
function depthOf(text: string): number {
  let [depth, deepest] = [0, 0];
  for (let place = 0; place < text.length; place++) {
    // brackets and braces differ only in this bit
    const code = text.charCodeAt(place) | 0x20;
    if (code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d) depth--;
    else if (text.charCodeAt(place) === quote) place = endOfString(text, place);
  }
  return deepest;
}

/** The position of the quote that ends a string, or the length of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === backslash) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}

/** The position of a part in a value. `null` for the value itself. */
type Place = { readonly name: string; readonly isIndex: boolean; readonly within: Place } | null;

/**
 * The texts and names of a value that cannot be kept, and the numbers that were marked as lost, in their order. There
 * are at most 50. Bytes are not checked. The function does not recurse, because JSON may be as deep as a body is long.
 */
export function faultsIn(value: unknown): JsonFault[] {
  const faults: JsonFault[] = [];
  const left: { readonly part: unknown; readonly place: Place }[] = [{ part: value, place: null }];
  for (let next = left.pop(); next !== undefined && faults.length < faultsMax; next = left.pop()) {
    const { part, place } = next;
    const reason = reasonOf(part);
    if (reason !== null) faults.push({ path: pathOf(place), isName: false, reason });
    if (typeof part !== 'object' || part === null) continue;
    const isIndex = Array.isArray(part);
    const inside = Object.entries(part) as [string, unknown][];
    for (const [name] of isIndex ? [] : inside) {
      const nameReason = textFault(name);
      if (nameReason !== null) faults.push({ path: pathOf(place), isName: true, reason: nameReason });
    }
    for (const [name, inner] of inside.reverse()) {
      if (isLookedAt(inner)) left.push({ part: inner, place: { name, isIndex, within: place } });
    }
  }
  return faults.slice(0, faultsMax);
}

const isLookedAt = (part: unknown): boolean =>
  typeof part === 'string' || typeof part === 'symbol' || (typeof part === 'object' && part !== null);

function reasonOf(part: unknown): string | null {
  if (typeof part === 'string') return textFault(part);
  return part === lostNumber ? 'is a number that cannot be kept exactly; send it as a text' : null;
}

/** A path in the form that people write. Names that are long or unusual are shortened and quoted. */
function pathOf(place: Place): string {
  const parts: string[] = [];
  for (let at = place; at !== null; at = at.within) {
    if (parts.length === shownLevels) {
      parts.push('…');
      break;
    }
    parts.push(at.isIndex ? `[${at.name}]` : fieldIn(at));
  }
  return parts.reverse().join('');
}

/** Maximum number of shown levels of a path. The innermost levels are shown. */
const shownLevels = 10;
const shownNameChars = 40;

function fieldIn({ name, within }: NonNullable<Place>): string {
  if (/^[A-Za-z_$][\w$-]{0,39}$/u.test(name)) return within === null ? name : `.${name}`;
  const shown = name.length <= shownNameChars ? name : `${name.slice(0, shownNameChars)}…`;
  return `[${JSON.stringify(shown)}]`;
}
