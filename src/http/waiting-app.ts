import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
} from 'fastify';
import { handleClientError } from '#http/server/errors/client-errors.ts';
import { limits, serverOptions } from '#http/server/limits.ts';
import type { Problem } from '#kernel/reports/health.ts';
import { retryAfterSeconds } from '#kernel/retry.ts';

export interface WaitingDependencies {
  readonly logger: FastifyBaseLogger;
  /** What the process waits for. */
  readonly problems: () => readonly Problem[];
}

/** A normal start takes a few seconds. */
const startingSeconds = 5;
const nothingKnown = 'This service is starting.';

/**
 * Answers before anything can be served, while the network is still unknown: the process is alive and not ready, with
 * the reason. Supervisors and load balancers then see a waiting process, not a missing one.
 */
export function buildWaitingApp({ logger, problems }: WaitingDependencies): FastifyInstance {
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    http: serverOptions,
    requestTimeout: limits.bodyPatienceMs,
    forceCloseConnections: true,
    clientErrorHandler: handleClientError,
    frameworkErrors: (_error, _request, reply) => {
      refuse(reply);
    },
  });
  app.server.maxConnections = limits.connections;
  // bodies are not read: nothing that they say changes the answer
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.get('/health/live', async (_request, reply) => withHeaders(reply).send({ status: 'ok' }));
  app.setNotFoundHandler(async (_request, reply) => refuse(reply));
  return app;

  function refuse(reply: FastifyReply): FastifyReply {
    const reasons = problems().map(({ since, ...rest }) => ({ ...rest, since: since.toISOString() }));
    const [first] = problems();
    return withHeaders(reply)
      .code(503)
      .header('retry-after', (first && retryAfterSeconds(first.code)) ?? startingSeconds)
      .send({ status: 'error', reason: reasons[0]?.message ?? nothingKnown, reasons, height: null });
  }
}

function withHeaders(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').header('access-control-allow-origin', '*');
}
