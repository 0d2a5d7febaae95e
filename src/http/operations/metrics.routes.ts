import { open } from '#http/server/access/guard.ts';
import { atOnce } from '#http/server/at-once.ts';
import type { Operations } from '#http/server/operations.ts';
import { plainText } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { SharedMaking } from '#kernel/concurrency/shared-making.ts';

/**
 * Methods that become labels. The number of labels must stay small, whatever clients send, so all other methods share
 * the label `other`.
 */
const knownMethods: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/**
 * Measures every request, by the pattern of its route. Register it before the routes, because it measures only routes
 * that are registered later.
 */
export function measureRequests(app: App, { metrics }: Operations): void {
  app.addHook(
    'onResponse',
    atOnce((request, reply) => {
      // skip event streams, because they are open for hours, so their duration says nothing about the speed
      if (String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream')) return;
      metrics.observeRequest({
        method: knownMethods.has(request.method) ? request.method : 'other',
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        seconds: reply.elapsedTime / 1000,
      });
    }),
  );
}

/** Route of `/metrics`, in the text format of Prometheus. */
export function metricsRoutes(app: App, { metrics }: Operations): void {
  // share one rendering, because two at the same time would clear each other's gauges
  const rendered = new SharedMaking(() => metrics.render());
  apiRoute(app, {
    method: 'GET',
    url: '/metrics',
    schema: {
      operationId: 'metrics',
      summary: 'Metrics in the text format of Prometheus',
      tags: ['status'],
      response: { 200: plainText('measurements') },
    },
    config: { errors: 'plain', guard: open, answersUnderPressure: true, cors: false },
    handler: async (_request, reply) => {
      const { contentType, text } = await rendered.get(null);
      return reply.header('cache-control', 'no-store').type(contentType).send(text);
    },
  });
}
