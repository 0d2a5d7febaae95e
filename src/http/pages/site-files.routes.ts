import { open } from '#http/server/access/guard.ts';
import { anyBytes } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { assetText } from '#web/assets.ts';

/** Browsers request these by themselves, and read the type rather than the name. */
const icon = assetText('icon.svg');

/** Searches are expensive, and content inscribed by others should not be found under our name. */
const robots =
  'User-agent: *\nDisallow: /search\nDisallow: /content/\nDisallow: /preview/\nDisallow: /thumbnails/\nDisallow: /r/\n';

/** `/favicon.ico` and `/robots.txt`. */
export function siteFilesRoutes(app: App): void {
  const files = [
    { url: '/favicon.ico', operationId: 'icon', type: 'image/svg+xml', body: icon },
    { url: '/robots.txt', operationId: 'robots', type: 'text/plain; charset=utf-8', body: robots },
  ];
  for (const { url, operationId, type, body } of files) {
    apiRoute(app, {
      method: 'GET',
      url,
      schema: {
        operationId,
        summary: 'Files that browsers and robots request',
        tags: ['pages'],
        response: { 200: anyBytes('the file') },
      },
      config: { errors: 'plain', guard: open },
      handler: async (_request, reply) =>
        reply.header('cache-control', 'public, max-age=86400').type(type).send(body),
    });
  }
}
