import { Type } from 'typebox';
import { open } from '#http/server/access/guard.ts';
import { matchesTag } from '#http/server/answers/conditional.ts';
import { anyBytes, seeOther, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { assetAddress, assets, assetsVersion } from '#web/assets.ts';

const path = Type.Object({
  version: Type.String({ description: 'the version of all files' }),
  '*': Type.String({ description: 'the name of the file' }),
});

const tag = `W/"${assetsVersion}"`;

/**
 * Route of the files that pages load. A page of an older or newer process requests another version. This process then
 * redirects the page to its own files, and the redirect must not be cached.
 */
export function assetsRoutes(app: App): void {
  apiRoute(app, {
    method: 'GET',
    url: '/assets/:version/*',
    schema: {
      operationId: 'asset',
      summary: 'The scripts, styles, fonts and pictures of our pages',
      tags: ['pages'],
      params: path,
      response: { 200: anyBytes('the file'), 303: seeOther, 304: unchanged },
    },
    config: { errors: 'plain', guard: open, compression: 'once' },
    handler: async (request, reply) => {
      const { version, '*': name } = request.params;
      const asset = assets.get(name);
      if (asset === undefined) throw new AppError('not_found', 'there is no such asset');
      if (version !== assetsVersion)
        return reply.header('cache-control', 'no-store').redirect(assetAddress(name), 303);
      reply.header('etag', tag);
      if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
      return reply
        .header('cache-control', 'public, max-age=31536000, immutable')
        .type(asset.type)
        .send(asset.bytes);
    },
  });
}
