import { open } from '#http/server/access/guard.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { RoutePolicy } from './api-route.ts';
import type { App } from './app-dependencies.ts';

const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Collects the methods of an application's paths. Call this before the routes are registered, and register its result
 * after the routes. A known path then answers other methods with 405 and `Allow` (RFC 9110, 15.5.6) instead of 404.
 */
export function watchMethods(app: App): (routes: App) => void {
  const pathsByUrl = new Map<string, { methods: Set<string>; errors: RoutePolicy['errors'] }>();
  let isComplete = false;
  app.addHook('onRoute', ({ url, method, config }) => {
    // preflights, assets and the catch-all routes of a group answer every method themselves
    if (isComplete || url.includes('*')) return;
    const path = pathsByUrl.get(url) ?? { methods: new Set(), errors: config?.errors ?? 'plain' };
    for (const name of [method].flat()) path.methods.add(name);
    pathsByUrl.set(url, path);
  });
  return (routes) => {
    isComplete = true;
    for (const [url, { methods, errors }] of pathsByUrl) {
      const allow = [...methods, 'OPTIONS'].join(', ');
      const method = allMethods.filter((name) => !methods.has(name));
      if (method.length === 0) continue;
      routes.route({
        url,
        method,
        exposeHeadRoute: false,
        schema: { hide: true },
        config: { errors, guard: open },
        // answer before the body is read
        onRequest: async (request, reply) => {
          reply.header('allow', allow);
          throw new AppError('method_not_allowed', `${request.method} is not a method of this path`);
        },
        handler: () => undefined,
      });
    }
  };
}
