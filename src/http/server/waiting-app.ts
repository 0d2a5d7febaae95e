import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Problem } from '#kernel/health.ts';
import { retryAfterSeconds } from '#kernel/retry.ts';
import { limits } from './limits.ts';

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
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    forceCloseConnections: true,
  });
  app.server.maxConnections = limits.connections;
  app.get('/health/live', async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
  app.setNotFoundHandler(async (_request, reply) => {
    const reasons = problems().map(({ since, ...rest }) => ({ ...rest, since: since.toISOString() }));
    const [first] = problems();
    return reply
      .code(503)
      .header('cache-control', 'no-store')
      .header('retry-after', (first && retryAfterSeconds(first.code)) ?? startingSeconds)
      .send({ status: 'error', reason: reasons[0]?.message ?? nothingKnown, reasons, height: null });
  });
  return app;
}
