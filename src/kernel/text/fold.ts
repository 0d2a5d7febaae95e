import { caseFoldingRuns } from './case-folding-table.ts';

/**
 * Folding makes texts and needles comparable (docs/search.md, "Folding"). It replaces each code point by Unicode simple
 * case folding, and NUL by U+2400. One code point becomes exactly one code point, so a needle occurs in a text exactly
 * where its folded form occurs in the folded text. Folding is idempotent.
 */

const nul = 0x2400;
const pageBits = 8;
const pageMask = 0xff;

/**
 * Builds the tables for folding. `pageOf[codePoint >> 8]` is the index of the page in `deltas`. Page 0 changes nothing.
 */
function buildPages(): { pageOf: Uint8Array; deltas: Int32Array } {
  const pageOf = new Uint8Array(0x110000 >> pageBits);
  const pages: Int32Array[] = [new Int32Array(1 << pageBits)];
  const put = (codePoint: number, delta: number): void => {
    let page = pageOf[codePoint >> pageBits]!;
    if (page === 0) {
      page = pages.push(new Int32Array(1 << pageBits)) - 1;
      pageOf[codePoint >> pageBits] = page;
    }
    (pages[page] as Int32Array)[codePoint & pageMask] = delta;
  };
  for (let run = 0; run < caseFoldingRuns.length; run += 4) {
    const [first, last, step, delta] = caseFoldingRuns.slice(run, run + 4) as [
      number,
      number,
      number,
      number,
    ];
    for (let codePoint = first; codePoint <= last; codePoint += step) put(codePoint, delta);
  }
  put(0, nul);
  const deltas = new Int32Array(pages.length << pageBits);
  for (const [index, page] of pages.entries()) deltas.set(page, index << pageBits);
  return { pageOf, deltas };
}

const { pageOf, deltas } = buildPages();

/** The folded form of a code point (0 to 0x10FFFF). Surrogates do not change. */
export function foldCodePoint(codePoint: number): number {
  const page = pageOf[codePoint >> pageBits];
  // code points beyond Unicode come only from bytes that are not UTF-8
  if (page === undefined) return codePoint;
  return codePoint + deltas[(page << pageBits) | (codePoint & pageMask)]!;
}

/** The folded forms of ASCII characters. The folded form of NUL is not ASCII. */
const foldedAscii = Uint16Array.from({ length: 0x80 }, (_, byte) => foldCodePoint(byte));

/** The folded text. Lone surrogates do not change. */
export function foldText(text: string): string {
  let folded = '';
  let kept = 0;
  for (let at = 0; at < text.length; ) {
    const codePoint = text.codePointAt(at) as number;
    const units = codePoint > 0xffff ? 2 : 1;
    const mapped = foldCodePoint(codePoint);
    if (mapped !== codePoint) {
      folded += text.slice(kept, at) + String.fromCodePoint(mapped);
      kept = at + units;
    }
    at += units;
  }
  return kept === 0 ? text : folded + text.slice(kept);
}

/** Number of bytes of the sequence that a lead byte begins. 1 for a byte that begins no sequence. */
function sequenceBytes(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** The code point at `at`. Its sequence has `length` bytes and ends within `bytes`. */
function codePointAt(bytes: Uint8Array, at: number, length: number): number {
  const lead = bytes[at]!;
  if (length === 2) return ((lead & 0x1f) << 6) | (bytes[at + 1]! & 0x3f);
  const middle = ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f);
  if (length === 3) return ((lead & 0x0f) << 12) | middle;
  return ((lead & 0x07) << 18) | (middle << 6) | (bytes[at + 3]! & 0x3f);
}

function utf8Bytes(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}

/** Length of the folded text in bytes. -1 if folding changes nothing. */
function foldedLength(bytes: Uint8Array): number {
  let growth = 0;
  let changed = false;
  const end = bytes.length;
  for (let at = 0; at < end; ) {
    const byte = bytes[at]!;
    if (byte < 0x80) {
      if (foldedAscii[byte] !== byte) {
        changed = true;
        if (byte === 0) growth += 2;
      }
      at++;
      continue;
    }
    const length = sequenceBytes(byte);
    if (length > 1 && at + length <= end) {
      const codePoint = codePointAt(bytes, at, length);
      const mapped = foldCodePoint(codePoint);
      if (mapped !== codePoint) {
        changed = true;
        growth += utf8Bytes(mapped) - length;
      }
    }
    at += length;
  }
  return changed ? end + growth : -1;
}

function putCodePoint(out: Uint8Array, at: number, codePoint: number): number {
  if (codePoint < 0x80) {
    out[at] = codePoint;
    return at + 1;
  }
  if (codePoint < 0x800) {
    out[at] = 0xc0 | (codePoint >> 6);
    out[at + 1] = 0x80 | (codePoint & 0x3f);
    return at + 2;
  }
  if (codePoint < 0x10000) {
    out[at] = 0xe0 | (codePoint >> 12);
    out[at + 1] = 0x80 | ((codePoint >> 6) & 0x3f);
    out[at + 2] = 0x80 | (codePoint & 0x3f);
    return at + 3;
  }
  out[at] = 0xf0 | (codePoint >> 18);
  out[at + 1] = 0x80 | ((codePoint >> 12) & 0x3f);
  out[at + 2] = 0x80 | ((codePoint >> 6) & 0x3f);
  out[at + 3] = 0x80 | (codePoint & 0x3f);
  return at + 4;
}

/**
 * The folded form of UTF-8 bytes, in a new buffer. `null` if the bytes are already folded, so that they themselves are
 * the folded text. The bytes must be valid UTF-8. Other bytes have a meaningless result, but never cause an error.
 */
export function foldUtf8(bytes: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const size = foldedLength(bytes);
  if (size < 0) return null;
  const folded = new Uint8Array(size);
  const end = bytes.length;
  let to = 0;
  for (let at = 0; at < end; ) {
    const byte = bytes[at]!;
    if (byte < 0x80 && byte !== 0) {
      folded[to++] = foldedAscii[byte]!;
      at++;
      continue;
    }
    const length = sequenceBytes(byte);
    const codePoint = length > 1 && at + length <= end ? codePointAt(bytes, at, length) : byte;
    const mapped = foldCodePoint(codePoint);
    if (mapped !== codePoint) {
      to = putCodePoint(folded, to, mapped);
      at += length;
      continue;
    }
    for (const next = Math.min(at + length, end); at < next; ) folded[to++] = bytes[at++]!;
  }
  return folded;
}
