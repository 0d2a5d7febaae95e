import qs from 'qs';
import { faultsIn, type JsonFault, readJson } from '#kernel/text/read-json.ts';
import { unreachable } from '#kernel/unreachable.ts';

/**
 * The format of a body:
 * - `json`: any JSON.
 * - `exactJson`: JSON whose numbers are kept as texts.
 * - `texts`: a JSON list of texts (`TextList`).
 * - `form`: a form.
 */
export type BodyKind = 'json' | 'exactJson' | 'texts' | 'form';

/** The formats that are parsed after the complete body has arrived. */
export type WholeBodyKind = Exclude<BodyKind, 'texts'>;

/** A part of a body that cannot be stored in the form in which it was sent. */
export interface BodyFault {
  readonly message: string;
  /** The field with the fault, for example `files[2].name`. Absent if the fault concerns the complete body. */
  readonly parameter?: string;
}

/**
 * The result of parsing. A failure is not an error class, because classes do not survive the transfer between threads.
 */
export type ParsedBody =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly message: string;
      /** All faults. `message` is the message of the first fault. Absent if there is only `message`. */
      readonly faults?: readonly BodyFault[];
    };

/**
 * Parses a body whose structure is within the bounds (`structureFault`). Never throws: any bytes give a result. Parts
 * that cannot be stored as they were sent are faults, so no route has to check for them. Such parts are bytes that are
 * not UTF-8, NUL and lone surrogates in texts and names, and numbers that lose digits.
 */
export function parseBody(kind: WholeBodyKind, bytes: Uint8Array): ParsedBody {
  let text: string;
  try {
    // the decoder removes a byte order mark, as other JSON readers do
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { ok: false, message: 'the body is not UTF-8' };
  }
  switch (kind) {
    case 'json':
      return parseJson(text, 'numbers');
    case 'exactJson':
      return parseJson(text, 'texts');
    case 'form':
      return parseForm(text);
    default:
      return unreachable(kind);
  }
}

const notJson: ParsedBody = { ok: false, message: 'the body is not JSON' };

function parseJson(text: string, wholeNumbers: 'numbers' | 'texts'): ParsedBody {
  const read = readJson(text, { wholeNumbers, depthMax: null });
  if (read.kind === 'broken') return notJson;
  if (read.kind === 'faulty') return faulty(read.faults.map(bodyFault));
  return mayPoison(text) && poisons(read.value) ? notJson : { ok: true, value: read.value };
}

function faulty(faults: readonly BodyFault[]): ParsedBody {
  return { ok: false, message: faults[0]?.message ?? 'the body is not valid', faults };
}

function bodyFault({ path, isName, reason }: JsonFault): BodyFault {
  const where = path === '' ? 'the body' : path;
  const message = `${isName ? `the name of a field of ${where}` : where} ${reason}`;
  return path === '' ? { message } : { message, parameter: path };
}

/**
 * Whether a text may contain a name that changes what objects inherit. Escapes can hide such a name, so any `\u` is
 * reported too.
 */
function mayPoison(text: string): boolean {
  return text.includes('__proto__') || text.includes('"constructor"') || text.includes('\\u');
}

/**
 * Whether a value has `__proto__`, or `constructor` with `prototype`. If such a field were copied to another object, it
 * would change what that object inherits. The function does not recurse, because JSON may nest as deep as a body is
 * long.
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

/**
 * Bounds of a form. A form that exceeds a bound is refused. By default qs would silently ignore the rest of such a
 * form.
 */
const formLimits = {
  /** Maximum number of items per list. */
  arrayLimit: 1_000,
  /** Maximum number of fields. Phases with their allow lists need the most fields. */
  parameterLimit: 20_000,
  /** Maximum depth of a name. `phases[0][allowList][3]` has the depth 3. */
  depth: 5,
} as const;

/** Parses a form. Names may contain lists and objects (`phases[0][price]=1`), in the form of PHP and jQuery. */
function parseForm(text: string): ParsedBody {
  try {
    const value = qs.parse(text, {
      ...formLimits,
      throwOnLimitExceeded: true,
      strictDepth: true,
      // objects get no prototype
      plainObjects: true,
      // the default decoder of qs would return a part unchanged if it cannot decode the part
      decoder: (part) => decodeURIComponent(part.replaceAll('+', ' ')),
    });
    const faults = faultsIn(value);
    return faults.length > 0 ? faulty(faults.map(bodyFault)) : { ok: true, value };
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, message: formFault(error.message) };
    if (error instanceof URIError) return { ok: false, message: 'the form is not percent-encoded UTF-8' };
    return { ok: false, message: 'the body is not a form' };
  }
}

function formFault(message: string): string {
  if (message.startsWith('Parameter')) return `the form has more than ${formLimits.parameterLimit} fields`;
  if (message.startsWith('Array')) return `a list of the form has more than ${formLimits.arrayLimit} entries`;
  return `a name in the form is more than ${formLimits.depth} levels deep`;
}
