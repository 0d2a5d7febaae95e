import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { atOnce } from '#http/server/at-once.ts';
import { handleClientError } from '#http/server/errors/client-errors.ts';

/** Chunks that may be of any size: a client may begin with small ones. */
const freeChunks = 1_000;
/**
 * The least mean size of a body's chunks, in bytes. A chunk takes the event loop a microsecond or more, so 64 kB in
 * chunks of one byte, which arrive at once, take it 40 ms. A program that writes its list in tokens sends at least 20
 * bytes per chunk.
 */
const meanChunkBytes = 16;

/**
 * Ends requests whose bodies come in ever so small chunks with 400, whether the body is being read or not. Their
 * clients are shut out: the rest of the packet is parsed all the same.
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
 * Node's parser passes each chunk to `push`. A listener would be called later, when all chunks of a packet are queued.
 */
function count({ raw }: FastifyRequest, reply: FastifyReply, shutOut: (socket: Socket) => void): void {
  const push = raw.push.bind(raw);
  let chunks = 0;
  let bytes = 0;
  let isCut = false;
  raw.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk === null) return push(chunk, encoding);
    // false: nothing more is read from the connection
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
  // a request that this process injects itself has no connection
  if (!(socket instanceof Socket)) return;
  shutOut(socket);
  // an answer that has begun would be garbled
  if (!reply.raw.headersSent) {
    handleClientError(Object.assign(new Error('small chunks'), { code: 'SATSCRIBE_SMALL_CHUNKS' }), socket);
  }
  socket.destroySoon();
}
