import { AppError } from '#kernel/errors/app-error.ts';
import type { App } from './app-dependencies.ts';

const allMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Learns which methods the paths of an app have. Call it before the routes are there, and what it gives as the last of them: a
 * known path with another method is then 405 with `Allow` (RFC 9110, 15.5.6) in place of 404.
 */
export function watchMethods(app: App): (routes: App) => void {
  const methodsByUrl = new Map<string, Set<string>>();
  let isComplete = false;
  app.addHook('onRoute', ({ url, method }) => {
    // preflights and assets answer for themselves
    if (isComplete || url.includes('*')) return;
    const methods = methodsByUrl.get(url) ?? new Set();
    for (const name of [method].flat()) methods.add(name);
    methodsByUrl.set(url, methods);
  });
  return (routes) => {
    isComplete = true;
    for (const [url, methods] of methodsByUrl) {
      const allow = [...methods, 'OPTIONS'].join(', ');
      const method = allMethods.filter((name) => !methods.has(name));
      routes.route({
        url,
        method,
        exposeHeadRoute: false,
        // before a body is read
        onRequest: async (request, reply) => {
          reply.header('allow', allow);
          throw new AppError('method_not_allowed', `${request.method} is not a method of this path`);
        },
        handler: () => undefined,
      });
    }
  };
}
