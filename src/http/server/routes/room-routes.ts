import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import { open } from '#http/server/access/guard.ts';
import { handleNotFound } from '#http/server/errors/answer-errors.ts';
import type { ErrorFormName } from '#http/server/errors/error-forms.ts';
import type { RoutePolicy } from './api-route.ts';
import type { App } from './app-dependencies.ts';

/**
 * Answers unknown paths below a known path in the form of the known path. So `/indexer/nothing` has the form of
 * searches, not the form of all other unknown paths.
 *
 * @param urls the known path, and all paths below the known path that have no other route
 */
export function roomRoutes(app: App, urls: readonly string[], errors: ErrorFormName): void {
  const refuse = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> =>
    handleNotFound(request, reply);
  refusingRoutes(app, urls, { policy: { errors, guard: open }, refuse });
}

/** Refuses every method of the given paths, after the access check and before a body is read. */
export function refusingRoutes(
  app: App,
  urls: readonly string[],
  { policy, refuse }: { readonly policy: RoutePolicy; readonly refuse: onRequestAsyncHookHandler },
): void {
  for (const url of urls) {
    app.route({
      url,
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposeHeadRoute: false,
      schema: { hide: true },
      config: policy,
      onRequest: refuse,
      handler: () => undefined,
    });
  }
}
