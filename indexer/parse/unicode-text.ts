import { foldCodePoint } from '#kernel/text/fold.ts';

/**
 * Folding of valid UTF-8 from one place of a buffer to another: what `foldUtf8` (kernel/text/fold.ts) does, without an
 * array of its own for each text.
 */

const folded = Uint8Array.from({ length: 0x80 }, (_, byte) => Math.min(foldCodePoint(byte), 0xff));
/** ASCII that folding leaves ASCII. NUL does not stay so. */
const isPlain = (byte: number): boolean => byte < 0x80 && byte > 0;

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

function codePointAt(bytes: Uint8Array, at: number, length: number): number {
  let codePoint = length === 1 ? (bytes[at] as number) : (bytes[at] as number) & (0x7f >> length);
  for (let next = at + 1; next < at + length; next++) {
    codePoint = (codePoint << 6) | ((bytes[next] as number) & 0x3f);
  }
  return codePoint;
}

/** Bytes that the folded form of a text takes; -1 where folding leaves it as it is. */
export function foldedLength(bytes: Uint8Array, start: number, end: number): number {
  let size = 0;
  let changed = false;
  for (let at = start; at < end; ) {
    const byte = bytes[at] as number;
    if (isPlain(byte)) {
      changed ||= folded[byte] !== byte;
      size++;
      at++;
      continue;
    }
    const length = sequenceLength(byte);
    const codePoint = codePointAt(bytes, at, length);
    const mapped = foldCodePoint(codePoint);
    changed ||= mapped !== codePoint;
    size += mapped === codePoint ? length : utf8Length(mapped);
    at += length;
  }
  return changed ? size : -1;
}

/** Writes the folded form of a text to `to` of `target`. */
export function foldUtf8Into(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  to: number,
): void {
  let out = to;
  for (let at = start; at < end; ) {
    const byte = bytes[at] as number;
    if (isPlain(byte)) {
      target[out++] = folded[byte] as number;
      at++;
      continue;
    }
    const length = sequenceLength(byte);
    const mapped = foldCodePoint(codePointAt(bytes, at, length));
    const mappedLength = utf8Length(mapped);
    for (let next = mappedLength - 1, rest = mapped; next > 0; next--, rest >>= 6) {
      target[out + next] = 0x80 | (rest & 0x3f);
    }
    const lead = mapped >> (6 * (mappedLength - 1));
    target[out] = mappedLength === 1 ? lead : lead | ((0xf00 >> mappedLength) & 0xff);
    out += mappedLength;
    at += length;
  }
}
