import { Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import type { EncodingName } from '#indexer/parse/content-decoding.ts';

/**
 * How decoding ended:
 * - `whole`: everything was decoded.
 * - `enough`: `take` wanted no more chunks.
 * - `broken`: the bytes do not match the encoding.
 */
export type DecodeEnd = 'whole' | 'enough' | 'broken';

/**
 * Log2 of the maximum window of zstd, in bytes. Decoders need not support windows above 8 MB (RFC 8878, 3.1.1.1.2), and
 * browsers do not support larger ones.
 */
const zstdWindowLogMax = 23;
/** Number of bytes that a decoder returns at a time. */
const chunkSize = 64 * 1024;

const decoders: Readonly<Record<EncodingName, () => Transform & { readonly bytesWritten: number }>> = {
  br: () => createBrotliDecompress({ chunkSize }),
  gzip: () => createGunzip({ chunkSize }),
  zstd: () =>
    createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } }),
};

/**
 * Decodes a body in libuv's threads, one chunk at a time. The event loop stays free, and decoding stops when `take`
 * wants no more chunks. Throws errors of the source.
 *
 * @param take receives a chunk, and returns whether it wants more
 */
export async function decodeContent(
  encoding: EncodingName,
  pieces: AsyncIterable<Buffer>,
  take: (chunk: Buffer) => boolean,
): Promise<DecodeEnd> {
  const decoder = decoders[encoding]();
  const source = Readable.from(pieces, { objectMode: false });
  const failures: Error[] = [];
  let given = 0;
  source.on('data', (piece: Buffer) => {
    given += piece.length;
  });
  source.on('error', (error) => {
    failures.push(error);
    decoder.destroy(error);
  });
  source.pipe(decoder);
  try {
    for await (const chunk of decoder) if (!take(chunk as Buffer)) return 'enough';
    // Node stops after the first zstd frame, but browsers continue. Unread bytes could therefore decode to any size.
    return decoder.bytesWritten < given || !source.readableEnded ? 'broken' : 'whole';
  } catch {
    const [failure] = failures;
    if (failure !== undefined) throw failure;
    // any other error comes from zlib, and means that these bytes are invalid
    return 'broken';
  } finally {
    source.destroy();
    decoder.destroy();
  }
}
