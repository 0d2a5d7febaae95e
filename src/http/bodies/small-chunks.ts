import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { atOnce } from '#http/server/at-once.ts';
import { handleClientError } from '#http/server/errors/client-errors.ts';

/** Number of chunks at the beginning of a body that may have any size, because some clients begin with small chunks. */
const freeChunks = 1_000;
/**
 * Minimum average size of a body's chunks, in bytes. A chunk takes the event loop a microsecond or more, so 64 kB that
 * arrive at once in chunks of one byte take 40 ms. A program that writes its list token by token sends at least 20
 * bytes per chunk.
 */
const meanChunkBytes = 16;

/**
 * Ends requests whose bodies come in very small chunks, with status 400, even if the body is not being read. The
 * clients of such requests get no new connection for a second, because the rest of each packet is still parsed.
 */
export function cutSmallChunks(app: FastifyInstance, shutOut: (socket: Socket) => void): void {
  app.addHook(
    'onRequest',
    atOnce((request, reply) => {
      if (request.headers['transfer-encoding'] !== undefined) count(request, reply, shutOut);
    }),
  );
}

/**
 * Counts chunks in `push`, which Node's parser calls for each chunk. A listener would run later, after all chunks of a
 * packet were queued.
 */
function count({ raw }: FastifyRequest, reply: FastifyReply, shutOut: (socket: Socket) => void): void {
  const push = raw.push.bind(raw);
  let chunks = 0;
  let bytes = 0;
  let isCut = false;
  raw.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk === null) return push(chunk, encoding);
    // returning false stops reads from the connection
    if (isCut) return false;
    chunks++;
    bytes += chunk.length;
    if (chunks <= freeChunks || bytes >= chunks * meanChunkBytes) return push(chunk, encoding);
    isCut = true;
    cut(raw.socket, reply, shutOut);
    return false;
  };
}

function cut(socket: unknown, reply: FastifyReply, shutOut: (socket: Socket) => void): void {
  // requests that this process injects have no connection
  if (!(socket instanceof Socket)) return;
  shutOut(socket);
  // if a response has begun, a 400 would corrupt it
  if (!reply.raw.headersSent) {
    handleClientError(Object.assign(new Error('small chunks'), { code: 'SATSCRIBE_SMALL_CHUNKS' }), socket);
  }
  socket.destroySoon();
}
