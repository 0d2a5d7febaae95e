import type { FastifyReply } from 'fastify';

/** Aborted where the client closes before it has its answer: nobody waits for what is still being looked for. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) controller.abort();
  });
  return controller.signal;
}
