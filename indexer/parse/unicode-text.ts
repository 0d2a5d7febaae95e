import { foldCodePoint } from '#kernel/text/fold.ts';
import type { Arena } from './arena.ts';
import { foldAsciiWord, isPlainAscii } from './ascii-text.ts';

/**
 * Folds valid UTF-8 from one place of the arena to another, as `foldUtf8` (kernel/text/fold.ts) does, without an array
 * per text.
 */

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
  let codePoint = length === 1 ? bytes[at]! : bytes[at]! & (0x7f >> length);
  for (let next = at + 1; next < at + length; next++) {
    codePoint = (codePoint << 6) | (bytes[next]! & 0x3f);
  }
  return codePoint;
}

/** Maximum number of bytes of the folded form per byte of the text. NUL becomes a character of three bytes. */
export const foldedGrowthMax = 3;

/**
 * Writes the folded form of the arena's text from `start` to `end` to `to`, which must have enough room. Returns the
 * length of the folded form. -1: it equals the text. Runs of ASCII are processed four bytes at a time while both
 * positions are aligned.
 */
export function foldUtf8Into({ bytes, words }: Arena, start: number, end: number, to: number): number {
  let out = to;
  let at = start;
  let changed = false;
  while (at < end) {
    if (((at | out) & 3) === 0 && at + 4 <= end) {
      const word = words[at >> 2]!;
      if (isPlainAscii(word)) {
        const mapped = foldAsciiWord(word);
        if (mapped !== word) changed = true;
        words[out >> 2] = mapped;
        at += 4;
        out += 4;
        continue;
      }
    }
    const length = sequenceLength(bytes[at]!);
    const codePoint = codePointAt(bytes, at, length);
    const mapped = foldCodePoint(codePoint);
    if (mapped !== codePoint) changed = true;
    const mappedLength = utf8Length(mapped);
    putCodePoint(bytes, out, mapped, mappedLength);
    at += length;
    out += mappedLength;
  }
  return changed ? out - to : -1;
}

function putCodePoint(target: Uint8Array, to: number, codePoint: number, length: number): void {
  let rest = codePoint;
  for (let next = to + length - 1; next > to; next--, rest >>= 6) target[next] = 0x80 | (rest & 0x3f);
  target[to] = length === 1 ? rest : rest | ((0xf00 >> length) & 0xff);
}
