import { brotliDecompressSync, constants, gunzipSync, zstdDecompressSync } from 'node:zlib';

/** The encoding of a body, as the low bits of `chain.contents.variant`. */
export const encodings = { none: 0, br: 1, gzip: 2, zstd: 3, unknown: 4 } as const;
export type EncodingName = Exclude<keyof typeof encodings, 'none' | 'unknown'>;

export interface DecodingLimits {
  /** Maximum size of the output, in bytes. */
  readonly outputBytesMax: number;
  /** Maximum output bytes per input byte. */
  readonly ratioMax: number;
}

/** Limits for properties, as in ord's inscription.rs. */
export const propertyLimits: DecodingLimits = { outputBytesMax: 4_000_000, ratioMax: 30 };

/**
 * Limits for bodies. The size is the longest unencoded body that a block can hold, so that encoding cannot cause more
 * work. The ratio of 100 to 1 is higher than that of repetitive markup and scripts (10 to 50), and lower than that of
 * bombs (br and zstd reach 100,000 to 1).
 */
export const bodyLimits: DecodingLimits = { outputBytesMax: 4_000_000, ratioMax: 100 };

/** Maximum log2 of the window. By RFC 8878, 3.1.1.1.2, decoders need not support windows above 8 MB. */
const zstdWindowLogMax = 23;

const decoders = {
  br: (bytes: Uint8Array, maxOutputLength: number) =>
    brotliDecompressSync(withSmallWindow(bytes, maxOutputLength), { maxOutputLength }),
  gzip: (bytes: Uint8Array, maxOutputLength: number) => gunzipSync(bytes, { maxOutputLength }),
  zstd: (bytes: Uint8Array, maxOutputLength: number) =>
    zstdDecompressSync(bytes, {
      maxOutputLength,
      params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax },
    }),
} as const;

/** The encoding that a content-encoding field names, compared exactly. Null: the encoding cannot be decoded here. */
export function encodingOf(field: Uint8Array): EncodingName | null {
  if (field.length > 4) return null;
  const name = Buffer.from(field.buffer, field.byteOffset, field.byteLength).toString('latin1');
  return name === 'br' || name === 'gzip' || name === 'zstd' ? name : null;
}

/** Maximum size of the output for an input of `length` bytes. */
export const outputLengthMax = (length: number, limits: DecodingLimits): number =>
  Math.min(limits.outputBytesMax, length * limits.ratioMax);

/** The decoded bytes. Null: the bytes do not match the encoding, are truncated or exceed a limit. */
export function decodeBytes(
  encoding: EncodingName,
  bytes: Uint8Array,
  limits: DecodingLimits,
): Buffer | null {
  const lengthMax = outputLengthMax(bytes.length, limits);
  if (lengthMax === 0) return null;
  try {
    const decoded = decoders[encoding](bytes, lengthMax);
    return decoded.length > lengthMax ? null : decoded;
  } catch {
    // every error of zlib is caused by these bytes or by the limit
    return null;
  }
}

/**
 * The same brotli stream with a window (RFC 7932, 9.1) no larger than the allowed output needs. A decoder returns
 * nothing before its window is full, so a bomb of twenty bytes that names a window of 16 MB costs 30 ms before any
 * limit is checked. Output within the limit is unchanged, because its distances never point before its beginning.
 */
function withSmallWindow(bytes: Uint8Array, lengthMax: number): Uint8Array {
  const first = bytes[0]!;
  // if bit 0 is set, bits 1 to 3 give 18 to 24 window bits; all other codes mean 17 or less, or are invalid
  const code = (first & 1) === 1 ? (first >> 1) & 7 : 0;
  let needed = 1;
  while (2 ** (17 + needed) - 16 < lengthMax) needed++;
  if (code <= needed) return bytes;
  const smaller = Uint8Array.from(bytes);
  smaller[0] = (first & ~0x0e) | (needed << 1);
  return smaller;
}
