import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
} from 'fastify';
import { sendPage } from '#http/server/answers/send-page.ts';
import { handleClientError } from '#http/server/errors/client-errors.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { limits, serverOptions } from '#http/server/limits.ts';
import { errorCodes } from '#kernel/errors/error-codes.ts';
import type { Problem } from '#kernel/reports/health.ts';
import { retryAfterSeconds } from '#kernel/retry.ts';
import { assets } from '#web/assets.ts';
import { waitingPage } from '#web/pages/waiting.page.ts';

export interface WaitingDependencies {
  readonly logger: FastifyBaseLogger;
  /** The reasons why the process waits. */
  readonly problems: () => readonly Problem[];
}

/** How long a normal start takes, in seconds. */
const startingSeconds = 5;
/**
 * How long the page waits before it reloads, in seconds. A person looks at the page, and an answer takes a millisecond.
 */
const pageAgainSeconds = 3;
const nothingKnown = 'This service is starting.';

/**
 * Answers requests while the network is still unknown, so that the service cannot start. The answers say that the
 * process is alive and not ready, with the reason. Supervisors and load balancers then see a waiting process instead of
 * a missing process, and people see a page.
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
  // do not read bodies, because they never change the answer
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.get('/health/live', async (_request, reply) => withHeaders(reply).send({ status: 'ok' }));
  // serve assets of any version; they are not cached, because the started service answers at the same URL
  app.get<{ Params: { '*': string } }>('/assets/:version/*', async ({ params }, reply) => {
    const asset = assets.get(params['*']);
    return asset === undefined ? refuse(reply) : withHeaders(reply).type(asset.type).send(asset.bytes);
  });
  app.setNotFoundHandler(async (_request, reply) => refuse(reply));
  return app;

  function refuse(reply: FastifyReply): FastifyReply {
    if (prefersHtml(reply.request.headers.accept)) return sendWaitingPage(reply, problems());
    const reasons = problems().map(({ since, ...rest }) => ({ ...rest, since: since.toISOString() }));
    const [first] = problems();
    return withHeaders(reply)
      .code(503)
      .header('retry-after', (first && retryAfterSeconds(first.code)) ?? startingSeconds)
      .send({ status: 'error', reason: reasons[0]?.message ?? nothingKnown, reasons, height: null });
  }
}

function sendWaitingPage(reply: FastifyReply, problems: readonly Problem[]): FastifyReply {
  const reasons = problems.map(({ code, message }) => ({ message, advice: errorCodes[code].action }));
  const page = waitingPage({ reasons, againSeconds: pageAgainSeconds });
  return sendPage(
    withHeaders(reply).code(503).header('retry-after', pageAgainSeconds).header('refresh', pageAgainSeconds),
    page,
  );
}

function withHeaders(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').header('access-control-allow-origin', '*');
}
