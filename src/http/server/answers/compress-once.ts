import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest, onSendAsyncHookHandler } from 'fastify';
import { LRUCache } from 'lru-cache';
import { acceptedEncoding } from '#http/server/headers/accept.ts';

/** Our own files, the document and the files of the reference, in both encodings. */
const filesMax = 64;
/** What they take in memory. The largest, of the reference, has 400 kB. */
const bytesMax = 8_000_000;
/**
 * They are compressed once, so better than answers: brotli 9 takes 0.1 s for the largest file, in a thread of libuv's
 * pool, to 30 % of its size.
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
 * Compresses answers that follow from their path alone and never change while the process lives: at their first
 * request, for all that come after it.
 *
 * @param isCompressible by the type of the answer
 */
export function compressOnce(isCompressible: (type: string) => boolean): onSendAsyncHookHandler {
  const made = new LRUCache<string, Buffer>({
    max: filesMax,
    maxSize: bytesMax,
    sizeCalculation: ({ length }) => length + 1,
  });
  /** First requests at the same time wait for one of them. */
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

/** Not a part of it, no error, and not compressed already. */
const isWhole = (reply: FastifyReply): boolean =>
  reply.statusCode === 200 && !reply.hasHeader('content-encoding') && !reply.hasHeader('content-range');

/** One name for all ways to write a path, so that none of them makes another entry. */
function nameOf(request: FastifyRequest): string {
  const [path = ''] = request.url.split('?', 1);
  return posix.normalize(decodeURIComponent(path));
}

const bytesOf = async (payload: string | Uint8Array | Readable): Promise<Buffer> =>
  payload instanceof Readable ? buffer(payload) : Buffer.from(payload);
