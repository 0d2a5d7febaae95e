import { smallU128, trustedU128, type U128 } from '#kernel/runes/u128.ts';

/*
 * Integers of up to 128 bits in the LEB128 encoding (ord crates/ordinals/src/varint.rs). Each byte has seven bits,
 * lowest bits first. All bytes except the last have the top bit.
 */

/** Maximum number of bytes of an integer. 19 bytes have 133 bits, so only two bits of the last byte may be used. */
const bytesMax = 19;
const lastByteMax = 3;
/** Maximum number of bytes of an integer that is always a safe integer. They have 49 bits. */
const smallBytes = 7;
const smallBits = 49n;
const topBit = 0x80;

/** All integers of a payload. `null` if an integer is incomplete or above 128 bits. */
export function readIntegers(bytes: Uint8Array, start: number, end: number): U128[] | null {
  const integers: U128[] = [];
  let at = start;
  while (at < end) {
    let value = 0;
    let scale = 1;
    let byte = topBit;
    const smallEnd = Math.min(at + smallBytes, end);
    const first = at;
    while (at < smallEnd && byte >= topBit) {
      byte = bytes[at++]!;
      value += (byte & (topBit - 1)) * scale;
      scale *= topBit;
    }
    if (byte < topBit) {
      integers.push(smallU128(value));
      continue;
    }
    const length = longLength(bytes, first, end);
    if (length === 0) return null;
    integers.push(trustedU128(longValue(bytes, first, first + length)));
    at = first + length;
  }
  return integers;
}

/** Number of bytes of an integer. 0 if the integer is incomplete or above 128 bits. */
function longLength(bytes: Uint8Array, start: number, end: number): number {
  for (let length = 1; length <= bytesMax && start + length <= end; length++) {
    const byte = bytes[start + length - 1]!;
    if (byte < topBit) return length === bytesMax && byte > lastByteMax ? 0 : length;
  }
  return 0;
}

/** The value of an integer. It is computed in three pieces, so that few bigints are made. */
function longValue(bytes: Uint8Array, start: number, end: number): bigint {
  const low = piece(bytes, start, end);
  const middle = piece(bytes, start + smallBytes, end);
  const high = piece(bytes, start + 2 * smallBytes, end);
  return BigInt(low) + (BigInt(middle) << smallBits) + (BigInt(high) << (2n * smallBits));
}

function piece(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = Math.min(start + smallBytes, end) - 1; at >= start; at--)
    value = value * topBit + (bytes[at]! & (topBit - 1));
  return value;
}

/** Appends an integer in its shortest form. */
export function writeInteger(bytes: number[], value: U128): void {
  let left = BigInt(value);
  while (left >= BigInt(topBit)) {
    bytes.push(Number(left & 0x7fn) | topBit);
    left >>= 7n;
  }
  bytes.push(Number(left));
}
