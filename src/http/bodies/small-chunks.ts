import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { atOnce } from '#http/server/at-once.ts';
import { handleClientError } from '#http/server/errors/client-errors.ts';

/** Number of first chunks that may have any size, because a client may begin with small chunks. */
const freeChunks = 1_000;
/**
 * Minimum mean size of a body's chunks, in bytes. A chunk takes the event loop a microsecond or more. So 64 kB of
 * one-byte chunks, which arrive at once, take 40 ms. A program that writes its list in tokens sends at least 20 bytes
 * per chunk.
 */
const meanChunkBytes = 16;

/**
 * Ends requests whose bodies come in very small chunks with 400, whether the body is being read or not. The clients of
 * such requests get no new connection for a second, because the rest of each packet is still parsed.
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
 * Counts chunks in `push`, to which Node's parser passes each chunk. A listener would run later, when all chunks of a
 * packet are queued.
 */
function count({ raw }: FastifyRequest, reply: FastifyReply, shutOut: (socket: Socket) => void): void {
  const push = raw.push.bind(raw);
  let chunks = 0;
  let bytes = 0;
  let isCut = false;
  raw.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk === null) return push(chunk, encoding);
    // false stops reading from the connection
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
  // a request that this process injects has no connection
  if (!(socket instanceof Socket)) return;
  shutOut(socket);
  // a 400 would corrupt an answer that has begun
  if (!reply.raw.headersSent) {
    handleClientError(Object.assign(new Error('small chunks'), { code: 'SATSCRIBE_SMALL_CHUNKS' }), socket);
  }
  socket.destroySoon();
}
