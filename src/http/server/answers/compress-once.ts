import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest, onSendAsyncHookHandler } from 'fastify';
import { LRUCache } from 'lru-cache';
import { acceptedEncoding } from '#http/server/headers/accept.ts';

/**
 * Maximum number of kept answers. It is enough for our own files, the API document and the files of the reference, in
 * both encodings.
 */
const filesMax = 64;
/** Maximum memory of kept answers, in bytes. The largest file belongs to the reference and has 400 kB. */
const bytesMax = 8_000_000;
/**
 * Compression levels. They are stronger than for other answers, because each of these answers is compressed once.
 * Brotli 9 takes 0.1 s for the largest file, in a thread of libuv's pool, and reduces it to 30 % of its size.
 */
const qualities = { br: 9, gzip: 9 } as const;

const pack = {
  br: (bytes: Buffer): Promise<Buffer> =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: qualities.br,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes: Buffer): Promise<Buffer> => promisify(gzip)(bytes, { level: qualities.gzip }),
} as const;

/**
 * Compresses answers that depend only on their path and never change while the process runs. Each answer is compressed
 * at its first request, and kept for all later requests.
 * @param isCompressible returns whether answers of a media type are compressed
 */
export function compressOnce(isCompressible: (type: string) => boolean): onSendAsyncHookHandler {
  const made = new LRUCache<string, Buffer>({
    max: filesMax,
    maxSize: bytesMax,
    sizeCalculation: ({ length }) => length + 1,
  });
  /** First compressions in progress. Requests that arrive at the same time share one compression. */
  const coming = new Map<string, Promise<Buffer>>();

  return async (request, reply, payload) => {
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    if (encoding === null || !isWhole(reply) || !isCompressible(String(reply.getHeader('content-type'))))
      return payload;
    if (!(typeof payload === 'string' || payload instanceof Uint8Array || payload instanceof Readable))
      return payload;
    const name = `${encoding} ${nameOf(request)}`;
    let packed = made.get(name);
    const first = coming.get(name);
    if (packed !== undefined || first !== undefined) {
      if (payload instanceof Readable) payload.destroy();
      packed ??= await first;
    } else {
      const packing = bytesOf(payload)
        .then(pack[encoding])
        .finally(() => coming.delete(name));
      coming.set(name, packing);
      packed = await packing;
      made.set(name, packed);
    }
    reply.header('content-encoding', encoding).header('content-length', packed?.length);
    return packed;
  };
}

/** Whether an answer is complete (not a part or an error), and not compressed already. */
const isWhole = (reply: FastifyReply): boolean =>
  reply.statusCode === 200 && !reply.hasHeader('content-encoding') && !reply.hasHeader('content-range');

/** Returns one name for all spellings of a path, so that each path has one entry. */
function nameOf(request: FastifyRequest): string {
  const [path = ''] = request.url.split('?', 1);
  return posix.normalize(decodeURIComponent(path));
}

const bytesOf = async (payload: string | Uint8Array | Readable): Promise<Buffer> =>
  payload instanceof Readable ? buffer(payload) : Buffer.from(payload);
