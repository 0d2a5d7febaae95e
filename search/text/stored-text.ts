import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';

/** Bits of chain.contents.variant for the encoding of a body; 0: not encoded. */
const encodingBits = 7;

/** Decoders. Each decodes as much as possible of truncated input, without an error. */
const decoders = {
  1: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  2: () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  3: () => createZstdDecompress({ finishFlush: constants.ZSTD_e_flush }),
} as const;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

export const isEncoded = (variant: number): boolean => (variant & encodingBits) !== 0;

/**
 * At most the first `bytesMax` bytes of the decoded body. `body` may be only its beginning. The parser has decoded the
 * whole body once, so it is known to be valid, and its decoded length is known.
 */
export async function decodedStart(body: Uint8Array, variant: number, bytesMax: number): Promise<Uint8Array> {
  if (!isEncoded(variant)) return body.subarray(0, bytesMax);
  const decoder = decoders[(variant & encodingBits) as keyof typeof decoders]();
  decoder.end(body);
  const chunks: Buffer[] = [];
  let size = 0;
  // leaving the loop destroys the decoder, so a bomb expands at most one chunk beyond the limit
  for await (const chunk of decoder as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

/** The text of UTF-8 bytes, cut to at most `bytesMax` bytes between code points. */
export function cutText(bytes: Uint8Array, bytesMax: number): string {
  if (bytes.length <= bytesMax) return utf8.decode(bytes);
  let end = bytesMax;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return utf8.decode(bytes.subarray(0, end));
}
