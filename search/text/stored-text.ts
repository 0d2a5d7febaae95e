import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';

/** Bits of chain.contents.variant that say how a body is encoded; 0 not at all. */
const encodingBits = 7;

/** Each gives what it can of bytes that end too early, without an error. */
const decoders = {
  1: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  2: () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH }),
  3: () => createZstdDecompress({ finishFlush: constants.ZSTD_e_flush }),
} as const;

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

export const isEncoded = (variant: number): boolean => (variant & encodingBits) !== 0;

/**
 * The first bytes, `bytesMax` at most, of what a stored body decodes to; `body` may be only the beginning of it. The
 * parser has decoded it once, so it is known to be sound and how long it gets.
 */
export async function decodedStart(body: Uint8Array, variant: number, bytesMax: number): Promise<Uint8Array> {
  if (!isEncoded(variant)) return body.subarray(0, bytesMax);
  const decoder = decoders[(variant & encodingBits) as keyof typeof decoders]();
  decoder.end(body);
  const chunks: Buffer[] = [];
  let size = 0;
  // leaving the loop destroys the decoder: a bomb goes off no further than one chunk behind the limit
  for await (const chunk of decoder as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

/** The text of UTF-8 bytes, cut to `bytesMax` bytes at most, at the border of a code point. */
export function cutText(bytes: Uint8Array, bytesMax: number): string {
  if (bytes.length <= bytesMax) return utf8.decode(bytes);
  let end = bytesMax;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--;
  return utf8.decode(bytes.subarray(0, end));
}
