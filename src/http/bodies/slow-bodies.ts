import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '#http/server/app-dependencies.ts';
import { handleClientError } from '#http/server/errors.ts';
import { limits } from '#http/server/limits.ts';

/** How patient a server is with bodies that come slowly. */
export type BodyPace = Readonly<Record<'bodyPatienceMs' | 'bodyRate' | 'checkMs', number>>;

const usual: BodyPace = { ...limits, checkMs: 1_000 };

/**
 * Cuts requests whose bodies come too slowly, whether anything reads them or not, with 408 like all that takes too long before there
 * is a request. Node itself knows one time for all, which is that of the largest body.
 */
export function cutSlowBodies(app: App, pace: BodyPace = usual): void {
  app.addHook('onRequest', async (request, reply) => {
    const { headers } = request;
    if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return;
    watch(request, reply, pace);
  });
}

function watch(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  { bodyPatienceMs, bodyRate, checkMs }: BodyPace,
): void {
  const { socket } = raw;
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
    // an answer that has begun would be garbled
    if (!reply.raw.headersSent) {
      handleClientError(Object.assign(new Error('slow body'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket);
    }
    socket.destroySoon();
  }, checkMs);
  timer.unref();
  raw.once('close', () => clearInterval(timer));
}
