import type { App } from './app-dependencies.ts';
import type { ErrorFormName } from './error-forms.ts';
import { handleNotFound } from './errors.ts';
import { open } from './guard.ts';

/**
 * What is not there below a path is answered in the form of what is: `/indexer/nothing` as a search. Without it such a path would
 * have the form of all unknown ones.
 *
 * @param urls of the room itself and of all that is below it, as far as no other route has them
 */
export function roomRoutes(app: App, urls: readonly string[], errors: ErrorFormName): void {
  for (const url of urls) {
    app.route({
      url,
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposeHeadRoute: false,
      schema: { hide: true },
      config: { errors, guard: open },
      // before a body is read
      onRequest: async (request, reply) => handleNotFound(request, reply),
      handler: () => undefined,
    });
  }
}
