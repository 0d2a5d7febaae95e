import type { FastifyReply } from 'fastify';

/** Aborted where the client disconnects before its answer, so that the work for it stops. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) controller.abort();
  });
  return controller.signal;
}
