import type { Steps } from '#kernel/concurrency/work-in-steps.ts';

/** Number of bytes to process in one step. */
export const pieceBytes = 64 * 1024;

const [percent, hash, blank, delete_] = [0x25, 0x23, 0x20, 0x7f] as const;

/** The value of each hex digit. The value is 255 if the byte is not a hex digit. */
const hexValues = new Uint8Array(256).fill(255);
for (const [value, character] of Array.from('0123456789abcdef').entries()) {
  hexValues[character.charCodeAt(0)] = value;
  hexValues[character.toUpperCase().charCodeAt(0)] = value;
}

/**
 * Decodes the data of a data URL without base64. Returns the reason if readers of URLs disagree about the data. For
 * example, browsers end a URL at `#`, drop line breaks and trailing blanks, and keep percent signs that other readers
 * refuse.
 */
export function* readPercentEncoded(data: Uint8Array): Steps<Uint8Array | string> {
  for (let start = 0; start < data.length; start += pieceBytes) {
    const piece = data.subarray(start, start + pieceBytes);
    const odd = piece.find((byte) => byte < blank || byte === hash || byte === delete_);
    if (odd !== undefined) return odd === hash ? hashReason : controlReason;
    yield piece.length;
  }
  if (data.at(-1) === blank) return 'ends with a space, which browsers remove; write the space as %20';
  return yield* decodePercent(data);
}

const hashReason = 'has a #, where browsers end a URL; write the # as %23';
const controlReason =
  'has a line break or another control character, which browsers remove; write it percent-encoded, for example as %0A';

/** Decodes percent-encoded text. Returns the reason if a percent sign is not followed by two hex digits. */
export function* decodePercent(data: Uint8Array): Steps<Uint8Array | string> {
  const decoded = Buffer.allocUnsafe(data.length);
  let end = 0;
  for (let place = 0, next = pieceBytes; place < data.length; place++) {
    if (place >= next) {
      next += pieceBytes;
      yield pieceBytes;
    }
    let byte = data[place] ?? 0;
    if (byte === percent) {
      const high = hexValues[data[place + 1] ?? 0] ?? 255;
      const low = hexValues[data[place + 2] ?? 0] ?? 255;
      if (high === 255 || low === 255)
        return 'has a percent sign without two hex digits after it; write the percent sign as %25';
      byte = high * 16 + low;
      place += 2;
    }
    decoded[end++] = byte;
  }
  return decoded.subarray(0, end);
}
