import qs from 'qs';
import { limits } from '#http/server/limits.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { packTexts } from './text-list.ts';

/** The format of a body: any JSON, a JSON list of texts (`TextList`), or a form. */
export type BodyKind = 'json' | 'texts' | 'form';

/** The result of parsing. Not an error class, because classes do not survive the transfer between threads. */
export type ParsedBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Parses a body. Total: any bytes give a result. */
export function parseBody(kind: BodyKind, bytes: Uint8Array): ParsedBody {
  if (kind !== 'form' && bytes.byteLength > limits.largeBodyBytes) {
    const fault = structureFault(bytes);
    if (fault !== null) return { ok: false, message: fault };
  }
  // drops a byte order mark, like other JSON readers
  const text = new TextDecoder().decode(bytes);
  switch (kind) {
    case 'json':
      return parseJson(text);
    case 'texts':
      return parseTexts(text);
    case 'form':
      return parseForm(text);
    default:
      return unreachable(kind);
  }
}

/**
 * Bounds of a large body. If the parsed JSON outgrows the heap, V8 ends the process, not the thread: 100 MB of
 * brackets would take gigabytes. 10,000 files with all their fields are 400,000 of these marks, 32 MiB of ids
 * 460,000.
 */
const marksMax = 1_000_000;
/** Copying between threads is recursive. */
const depthMax = 500;

const quote = 0x22;
const backslash = 0x5c;

/** The structural fault of a JSON text, found before it is parsed; null: none. Skips strings. */
function structureFault(given: Uint8Array): string | null {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  let marks = 0;
  let depth = 0;
  for (let place = 0; place < bytes.length; place++) {
    switch (bytes[place] ?? 0) {
      case quote:
        place = endOfString(bytes, place);
        break;
      case 0x5b: // [
      case 0x7b: // {
        marks++;
        if (++depth > depthMax) return `the body is nested deeper than ${depthMax} levels`;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      case 0x2c: // ,
      case 0x3a: // :
        marks++;
        break;
      default:
    }
    if (marks > marksMax) return `the body has more than ${marksMax} brackets, commas and colons`;
  }
  return null;
}

/** The position of the quote that ends a string; the length of the bytes if there is none. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let first = end;
    while (bytes[first - 1] === backslash) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return bytes.length;
}

const notJson: ParsedBody = { ok: false, message: 'the body is not JSON' };

function parseJson(text: string): ParsedBody {
  try {
    const value: unknown = JSON.parse(text);
    return mayPoison(text) && poisons(value) ? notJson : { ok: true, value };
  } catch {
    return notJson;
  }
}

function parseTexts(text: string): ParsedBody {
  const parsed = parseJson(text);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  if (!Array.isArray(value)) return { ok: false, message: 'the body is not an array' };
  if (!value.every((item) => typeof item === 'string')) {
    return { ok: false, message: 'an item of the body is not a string' };
  }
  return { ok: true, value: packTexts(value) };
}

/** Whether a text may contain a name that changes what objects inherit. Names can be written with escapes. */
function mayPoison(text: string): boolean {
  return text.includes('__proto__') || text.includes('"constructor"') || text.includes('\\u');
}

/**
 * Whether a value has `__proto__`, or `constructor` with `prototype`: copied to another object, they would change
 * what it inherits. Without recursion, because JSON may nest as deep as a body is long.
 */
function poisons(value: unknown): boolean {
  const left: unknown[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (Object.hasOwn(next, '__proto__')) return true;
    if (Object.hasOwn(next, 'constructor')) {
      const { constructor } = next as { constructor: unknown };
      if (typeof constructor === 'object' && constructor !== null && Object.hasOwn(constructor, 'prototype'))
        return true;
    }
    for (const part of Object.values(next) as unknown[]) {
      if (typeof part === 'object' && part !== null) left.push(part);
    }
  }
  return false;
}

/** Bounds of a form. Anything beyond is refused; by default qs would drop it silently. */
const formLimits = {
  /** Items per list. */
  arrayLimit: 1_000,
  /** Fields in total: phases with their allow lists. */
  parameterLimit: 20_000,
  /** `phases[0][allowList][3]` is 3 deep. */
  depth: 5,
} as const;

/** Parses lists and objects in names (`phases[0][price]=1`), as PHP and jQuery write them. */
function parseForm(text: string): ParsedBody {
  try {
    const value = qs.parse(text, {
      ...formLimits,
      throwOnLimitExceeded: true,
      strictDepth: true,
      // objects without a prototype
      plainObjects: true,
    });
    return { ok: true, value };
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, message: formFault(error.message) };
    return { ok: false, message: 'the body is not a form' };
  }
}

function formFault(message: string): string {
  if (message.startsWith('Parameter')) return `the form has more than ${formLimits.parameterLimit} fields`;
  if (message.startsWith('Array')) return `a list of the form has more than ${formLimits.arrayLimit} entries`;
  return `a name in the form is more than ${formLimits.depth} levels deep`;
}
