import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest, onSendAsyncHookHandler } from 'fastify';
import { LRUCache } from 'lru-cache';
import { acceptedEncoding } from '#http/server/headers/accept.ts';

/** Maximum number of kept answers: our own files, the document and the files of the reference, in both encodings. */
const filesMax = 64;
/** Maximum memory of kept answers. The largest file, of the reference, has 400 kB. */
const bytesMax = 8_000_000;
/**
 * Stronger compression than for other answers, because each is compressed once: brotli 9 takes 0.1 s for the largest
 * file, in a thread of libuv's pool, to 30 % of its size.
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
 * Compresses answers that depend on their path alone and never change while the process lives: at their first request,
 * for all later ones.
 * @param isCompressible by the type of the answer
 */
export function compressOnce(isCompressible: (type: string) => boolean): onSendAsyncHookHandler {
  const made = new LRUCache<string, Buffer>({
    max: filesMax,
    maxSize: bytesMax,
    sizeCalculation: ({ length }) => length + 1,
  });
  /** First compressions in progress: requests at the same time share one. */
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

/** Whether this is a whole answer: no part, no error, and not compressed already. */
const isWhole = (reply: FastifyReply): boolean =>
  reply.statusCode === 200 && !reply.hasHeader('content-encoding') && !reply.hasHeader('content-range');

/** One name for all ways to write a path, so that each path has one entry. */
function nameOf(request: FastifyRequest): string {
  const [path = ''] = request.url.split('?', 1);
  return posix.normalize(decodeURIComponent(path));
}

const bytesOf = async (payload: string | Uint8Array | Readable): Promise<Buffer> =>
  payload instanceof Readable ? buffer(payload) : Buffer.from(payload);
