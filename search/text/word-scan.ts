import { wordCodePointsMax } from './words.ts';

/**
 * The kind of each code point, in pages made on demand. 1: a letter, mark or digit. 2: another character. 0: not looked
 * up yet.
 */
const pages: (Uint8Array | undefined)[] = Array.from({ length: 0x1100 });
const letter = /[\p{L}\p{M}\p{N}]/u;

function isLetter(point: number): boolean {
  let page = pages[point >>> 8];
  if (page === undefined) {
    page = new Uint8Array(256);
    pages[point >>> 8] = page;
  }
  const known = page[point & 0xff]!;
  if (known !== 0) return known === 1;
  const answer = letter.test(String.fromCodePoint(point));
  page[point & 0xff] = answer ? 1 : 2;
  return answer;
}

const isAsciiLetter = Uint8Array.from({ length: 0x80 }, (_, byte) =>
  letter.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** Called with the bytes of a word and its number of code points. If it returns true, the scan ends. */
export type EachWord = (start: number, end: number, points: number) => boolean;

/**
 * Visits the words (search/text/words.ts) of a folded text in valid UTF-8, with repetitions. Visits words that begin
 * within `bytes` bytes after `from`, which must not be inside a word. Returns the position from which to continue: the
 * length of the text at its end, or the position where `each` ended the scan. Allocates nothing.
 */
export function scanWords(text: Uint8Array, from: number, bytes: number, each: EachWord): number {
  let start = -1;
  let points = 0;
  for (let at = from; at < text.length; ) {
    if (start < 0 && at - from >= bytes) return at;
    const byte = text[at]!;
    const size = bytesOfPoint(byte);
    if (size === 1 ? isAsciiLetter[byte] === 1 : isLetter(pointAt(text, at, size))) {
      if (start < 0) start = at;
      points++;
    } else if (start >= 0) {
      if (points <= wordCodePointsMax && each(start, at, points)) return text.length;
      start = -1;
      points = 0;
    }
    at += size;
  }
  if (start >= 0 && points <= wordCodePointsMax) each(start, text.length, points);
  return text.length;
}

/** Length of a code point by its first byte. */
const bytesOfPoint = (byte: number): number => (byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);

function pointAt(text: Uint8Array, at: number, size: number): number {
  let point = text[at]! & (0xff >> (size + 1));
  for (let index = 1; index < size; index++) point = (point << 6) | (text[at + index]! & 0x3f);
  return point;
}

/** Writes the code points of a part of a text to `into`. */
export function readPoints(text: Uint8Array, start: number, end: number, into: Int32Array): void {
  let count = 0;
  for (let at = start; at < end; count++) {
    const byte = text[at]!;
    const size = bytesOfPoint(byte);
    into[count] = size === 1 ? byte : pointAt(text, at, size);
    at += size;
  }
}
