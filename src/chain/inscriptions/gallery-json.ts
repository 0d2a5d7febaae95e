import { itemBytes } from '#chain/snapshot/gallery-pages.ts';
import { noAttributes } from '#kernel/text/properties-text.ts';

const hashBytes = 32;
const before = Buffer.from('{"id":"');
const between = Buffer.from('","attributes":');
const usual = Buffer.from(noAttributes);
const comma = 0x2c;
const close = 0x7d;
const letterI = 0x69;
const zero = 0x30;
/**
 * Maximum number of bytes of an item. Its parts are `{"id":"`, the hash, `i`, ten digits, `","attributes":`, `}` and a
 * comma.
 */
const itemBytesMax = 7 + 64 + 1 + 10 + 15 + 1 + 1;

/** The hex digits as bytes. */
const hexDigits = Buffer.from('0123456789abcdef');

/**
 * Returns the items of a gallery as JSON, separated by commas. The bytes are written directly, because a gallery may
 * have a hundred thousand items, and a string for each item would cost ten times as much.
 *
 * @param ids ids of 36 bytes each
 *
 * @param attributesOf returns the JSON of the title and traits of the item at an index of `ids`; undefined if the item
 *   has neither
 */
export function itemsJson(
  ids: Uint8Array,
  attributesOf: (place: number) => Uint8Array | undefined = () => undefined,
): Buffer {
  const items = ids.length / itemBytes;
  const attributes = Array.from({ length: items }, (_, place) => attributesOf(place) ?? usual);
  const out = Buffer.allocUnsafe(attributes.reduce((sum, { length }) => sum + length, items * itemBytesMax));
  let at = 0;
  for (let item = 0; item < items; item++) {
    if (item > 0) out[at++] = comma;
    at += before.copy(out, at);
    const start = item * itemBytes;
    for (let byte = start + hashBytes - 1; byte >= start; byte--) {
      const value = ids[byte]!;
      out[at++] = hexDigits[value >> 4]!;
      out[at++] = hexDigits[value & 15]!;
    }
    out[at++] = letterI;
    at = writeIndex(ids, start + hashBytes, out, at);
    at += between.copy(out, at);
    const own = attributes[item]!;
    out.set(own, at);
    at += own.length;
    out[at++] = close;
  }
  return out.subarray(0, at);
}

/** Writes the index, four bytes little endian, as digits. Returns the end of the digits. */
function writeIndex(ids: Uint8Array, from: number, out: Buffer, at: number): number {
  const index = ids[from]! + ids[from + 1]! * 2 ** 8 + ids[from + 2]! * 2 ** 16 + ids[from + 3]! * 2 ** 24;
  if (index < 10) {
    out[at] = zero + index;
    return at + 1;
  }
  return at + out.write(String(index), at, 'latin1');
}
