import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';

/**
 * A synchronous hook that refuses a request by throwing. Every request runs about ten such hooks. When these hooks were
 * promises, they took a tenth of the time of a cheap read.
 */
export const atOnce =
  (hook: (request: FastifyRequest, reply: FastifyReply) => void) =>
  (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    try {
      hook(request, reply);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };

/** A synchronous hook that may replace the payload, and refuses a request by throwing. */
export const payloadAtOnce =
  (hook: (request: FastifyRequest, reply: FastifyReply, payload: unknown) => unknown) =>
  (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: Error | null, payload?: unknown) => void,
  ): void => {
    let sent: unknown;
    try {
      sent = hook(request, reply, payload);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, sent);
  };
