import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { atOnce } from '#http/server/at-once.ts';
import { handleClientError } from '#http/server/errors/client-errors.ts';
import { limits } from '#http/server/limits.ts';
import { announcesBody } from './announced-body.ts';

/** How long a slow body may take, how many bytes per second it must then send, and how often this is checked. */
export type BodyPace = Readonly<Record<'bodyPatienceMs' | 'bodyRate' | 'checkMs', number>>;

const usual: BodyPace = { ...limits, checkMs: 1_000 };

/**
 * Ends requests whose bodies arrive too slowly, with status 408, even if the body is not being read. Node's own time
 * limit is the same for all bodies, so it must be long enough for the largest body.
 */
export function cutSlowBodies(app: FastifyInstance, pace: BodyPace = usual): void {
  app.addHook(
    'onRequest',
    atOnce((request, reply) => {
      if (announcesBody(request)) watch(request, reply, pace);
    }),
  );
}

function watch(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { bodyPatienceMs, bodyRate, checkMs }: BodyPace,
): void {
  const { socket } = raw;
  // requests that this process injects have no connection
  if (!(socket instanceof Socket)) return;
  const startedAt = performance.now();
  const bytesBefore = socket.bytesRead;
  const timer = setInterval(() => {
    if (raw.complete || socket.destroyed) {
      clearInterval(timer);
      return;
    }
    const spentMs = performance.now() - startedAt;
    if (spentMs < bodyPatienceMs || (socket.bytesRead - bytesBefore) * 1000 >= bodyRate * spentMs) return;
    clearInterval(timer);
    // if a response has begun, a 408 would corrupt it
    if (!reply.raw.headersSent) {
      handleClientError(Object.assign(new Error('slow body'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
    }
    socket.destroySoon();
  }, checkMs);
  timer.unref();
  raw.once('close', () => clearInterval(timer));
}
