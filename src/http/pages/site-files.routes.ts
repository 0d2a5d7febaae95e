import { open } from '#http/server/access/guard.ts';
import { anyBytes } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { assetAddress, assetText } from '#web/assets.ts';

/**
 * The icon that browsers request by themselves as `/favicon.ico`. It is an SVG, because browsers use its type, not its
 * name.
 */
const icon = assetText('icon.svg');

/** Rules for robots. Searches are expensive, and content of other people should not be found under this site's name. */
const robots =
  'User-agent: *\nDisallow: /search\nDisallow: /content/\nDisallow: /preview/\nDisallow: /thumbnails/\nDisallow: /r/\n';

/** Name and icons of the application that a phone shows after a visitor installs the page. */
const manifest = JSON.stringify({
  name: 'Satscribe',
  short_name: 'Satscribe',
  description: 'Search everything inscribed on Bitcoin, word for word.',
  start_url: '/',
  display: 'minimal-ui',
  background_color: '#faf7f0',
  theme_color: '#faf7f0',
  icons: [
    { src: assetAddress('icon.svg'), sizes: 'any', type: 'image/svg+xml' },
    { src: assetAddress('icons/icon-192.png'), sizes: '192x192', type: 'image/png' },
    { src: assetAddress('icons/icon-512.png'), sizes: '512x512', type: 'image/png' },
    { src: assetAddress('icons/maskable-512.png'), sizes: '512x512', type: 'image/png', purpose: 'maskable' },
  ],
});

/** Routes of `/favicon.ico`, `/robots.txt` and `/manifest.webmanifest`. */
export function siteFilesRoutes(app: App): void {
  const files = [
    { url: '/favicon.ico', operationId: 'icon', type: 'image/svg+xml', body: icon },
    { url: '/robots.txt', operationId: 'robots', type: 'text/plain; charset=utf-8', body: robots },
    {
      url: '/manifest.webmanifest',
      operationId: 'manifest',
      type: 'application/manifest+json; charset=utf-8',
      body: manifest,
    },
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
