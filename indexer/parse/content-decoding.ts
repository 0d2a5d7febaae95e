import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';

/** How a body is encoded, as the low bits of `chain.contents.variant`. */
export const encodings = { none: 0, br: 1, gzip: 2, zstd: 3, unknown: 4 } as const;
export type EncodingName = Exclude<keyof typeof encodings, 'none' | 'unknown'>;

export interface DecodingLimits {
  /** Most bytes that come out. */
  readonly outputBytesMax: number;
  /** Most bytes that come out for each that goes in. */
  readonly ratioMax: number;
}

/** ord inscription.rs: what it decodes of properties. */
export const propertyLimits: DecodingLimits = { outputBytesMax: 4_000_000, ratioMax: 30 };

/**
 * Bodies: as long as the longest that a block could hold as it is, so that encoding gains nobody more work of ours;
 * and 100 to 1, which markup and scripts full of repetitions stay below (they reach 10 to 50), and bombs do not (br and
 * zstd reach 100,000 to 1).
 */
export const bodyLimits: DecodingLimits = { outputBytesMax: 4_000_000, ratioMax: 100 };

const decoders = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
} as const;

/** The encoding that a content-encoding field names, in exactly these letters; null for all that we cannot decode. */
export function encodingOf(field: Uint8Array): EncodingName | null {
  if (field.length > 4) return null;
  const name = Buffer.from(field.buffer, field.byteOffset, field.byteLength).toString('latin1');
  return name === 'br' || name === 'gzip' || name === 'zstd' ? name : null;
}

/** The decoded bytes, or null where they are not what the encoding says, are cut short or exceed a limit. */
export function decodeBytes(
  encoding: EncodingName,
  bytes: Uint8Array,
  limits: DecodingLimits,
): Buffer | null {
  const maxOutputLength = Math.min(limits.outputBytesMax, bytes.length * limits.ratioMax);
  if (maxOutputLength === 0) return null;
  try {
    const decoded = decoders[encoding](bytes, { maxOutputLength });
    return decoded.length > maxOutputLength ? null : decoded;
  } catch {
    // every error of zlib is about these bytes or the limit
    return null;
  }
}
