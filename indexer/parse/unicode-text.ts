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

/** The folded form of a text has at most this many bytes for each of its own: NUL becomes a character of three. */
export const foldedGrowthMax = 3;

/**
 * Writes the folded form of a text to `to` of `target`, where there must be room for it, and returns its length; -1
 * where it is the text itself.
 */
export function foldUtf8Into(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  to: number,
): number {
  let out = to;
  let changed = false;
  for (let at = start; at < end; ) {
    const byte = bytes[at] as number;
    if (isPlain(byte)) {
      const mapped = folded[byte] as number;
      if (mapped !== byte) changed = true;
      target[out++] = mapped;
      at++;
      continue;
    }
    const length = sequenceLength(byte);
    const codePoint = codePointAt(bytes, at, length);
    const mapped = foldCodePoint(codePoint);
    if (mapped !== codePoint) changed = true;
    at += length;
    const mappedLength = utf8Length(mapped);
    putCodePoint(target, out, mapped, mappedLength);
    out += mappedLength;
  }
  return changed ? out - to : -1;
}

function putCodePoint(target: Uint8Array, to: number, codePoint: number, length: number): void {
  let rest = codePoint;
  for (let next = to + length - 1; next > to; next--, rest >>= 6) target[next] = 0x80 | (rest & 0x3f);
  target[to] = length === 1 ? rest : rest | ((0xf00 >> length) & 0xff);
}
