import type { WholeBodyKind } from './parse-body.ts';

/** Bounds of the structure of a body. */
export interface StructureBounds {
  /**
   * Maximum number of marks. In JSON, marks are brackets, commas and colons. In a form, they are fields, and brackets
   * in names of fields.
   */
  readonly marks: number;
  /** Maximum depth of JSON. */
  readonly depth: number;
}

export interface StructureFault {
  /** The bound that was exceeded. */
  readonly bound: keyof StructureBounds;
  readonly message: string;
}

/** Finds the bound that a body exceeds, before the body is parsed. Returns `null` if the body is within its bounds. */
export function structureFault(
  kind: WholeBodyKind,
  bytes: Uint8Array,
  bounds: StructureBounds,
): StructureFault | null {
  return kind === 'form' ? formFault(bytes, bounds) : jsonFault(bytes, bounds);
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * Finds the bound that a JSON text exceeds, before the text is parsed. Returns `null` if the text is within its bounds.
 * Skips strings, and stops at the first mark beyond a bound.
 */
function jsonFault(given: Uint8Array, bounds: StructureBounds): StructureFault | null {
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
        if (++depth > bounds.depth) {
          return { bound: 'depth', message: `the body is nested deeper than ${bounds.depth} levels` };
        }
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
    if (marks > bounds.marks) {
      const message = `the body has more than ${bounds.marks} brackets, commas and colons`;
      return { bound: 'marks', message };
    }
  }
  return null;
}

/** Returns the position of the quote that ends a string, or the length of the bytes if the string does not end. */
export function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let first = end;
    while (bytes[first - 1] === backslash) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return bytes.length;
}

function formFault(bytes: Uint8Array, bounds: Pick<StructureBounds, 'marks'>): StructureFault | null {
  let marks = 0;
  for (let place = 0; place < bytes.length; place++) {
    const byte = bytes[place];
    if (byte === 0x26 || byte === 0x5b || (byte === 0x25 && isBracket(bytes, place))) marks++;
    if (marks > bounds.marks) {
      return { bound: 'marks', message: `the form has more than ${bounds.marks} fields and brackets` };
    }
  }
  return null;
}

/** Whether a `%` begins an encoded opening bracket (`%5B`). */
function isBracket(bytes: Uint8Array, place: number): boolean {
  const digit = bytes[place + 2];
  return bytes[place + 1] === 0x35 && (digit === 0x42 || digit === 0x62);
}
