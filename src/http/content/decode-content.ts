import { Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createZstdDecompress } from 'node:zlib';
import type { EncodingName } from '#indexer/parse/content-decoding.ts';

/** `whole`: all of it was taken. `enough`: `take` wanted no more. `broken`: the bytes do not match the encoding. */
export type DecodeEnd = 'whole' | 'enough' | 'broken';

/** RFC 8878, 3.1.1.1.2: decoders need not support windows above 8 MB, and browsers do not. */
const zstdWindowLogMax = 23;
/** Output of one turn of a decoder. */
const chunkSize = 64 * 1024;

const decoders: Readonly<Record<EncodingName, () => Transform & { readonly bytesWritten: number }>> = {
  br: () => createBrotliDecompress({ chunkSize }),
  gzip: () => createGunzip({ chunkSize }),
  zstd: () =>
    createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: zstdWindowLogMax } }),
};

/**
 * Decodes a body in libuv's pool, a chunk at a time: nothing is decoded beyond what `take` wants, and the event loop
 * is free meanwhile. Errors of the source are thrown.
 *
 * @param take takes a chunk, and says whether it wants more
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
    // Node ends with the first frame of zstd, and browsers go on: what follows could be of any size
    return decoder.bytesWritten < given || !source.readableEnded ? 'broken' : 'whole';
  } catch {
    const [failure] = failures;
    if (failure !== undefined) throw failure;
    // every other error is of zlib and about these bytes
    return 'broken';
  } finally {
    source.destroy();
    decoder.destroy();
  }
}
