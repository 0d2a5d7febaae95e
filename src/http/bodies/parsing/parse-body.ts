import qs from 'qs';
import { unreachable } from '#kernel/unreachable.ts';

/** The format of a body: any JSON, a JSON list of texts (`TextList`), or a form. */
export type BodyKind = 'json' | 'texts' | 'form';

/** The formats that are parsed when the whole body is there. */
export type WholeBodyKind = Exclude<BodyKind, 'texts'>;

/** The result of parsing. Not an error class, because classes do not survive the transfer between threads. */
export type ParsedBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** Parses a body whose structure is bounded (`structureFault`). Total: any bytes give a result. */
export function parseBody(kind: WholeBodyKind, bytes: Uint8Array): ParsedBody {
  // drops a byte order mark, like other JSON readers
  const text = new TextDecoder().decode(bytes);
  switch (kind) {
    case 'json':
      return parseJson(text);
    case 'form':
      return parseForm(text);
    default:
      return unreachable(kind);
  }
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
