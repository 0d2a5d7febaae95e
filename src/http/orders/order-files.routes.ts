import { Type } from 'typebox';
import { downloadHeaders } from '#http/content/content-headers.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { readsOrders } from '#http/server/access/guard.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { anyBytes } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { textFault } from '#kernel/text/text-fault.ts';

/**
 * Routes of the files of orders, in the form that customers sent. The files are served as downloads, because anyone can
 * make an order and never pay for it. Programs and `<img>` of other pages can still read the files.
 */
export function orderFilesRoutes(app: App, { orders = null }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/files/:key',
    schema: {
      operationId: 'orderFile',
      summary: 'A file of an order, as its customer sent it',
      tags: ['orders'],
      params: Type.Object({ key: Type.String({ description: 'the s3Key of the file', maxLength: 400 }) }),
      response: { 200: anyBytes('the file') },
    },
    // a file of up to 4 MB is read in one step, which uses the disk but does not block the event loop
    config: {
      errors: 'text',
      guard: readsOrders,
      compression: 'none',
      failures: [410],
      answersLarge: true,
      isDear: false,
    },
    handler: async (request, reply) => {
      const { key } = request.params;
      const reason = textFault(key);
      if (reason !== null)
        throw new InvalidRequest([{ message: `key ${reason}`, parameter: 'key', place: 'path' }]);
      const file = orders === null ? null : await orders.file(key, askerOf(reply).signal);
      if (file === null) throw new AppError('not_found', 'there is no such file');
      return reply
        .headers({
          ...downloadHeaders(key),
          'content-type': file.mediaType,
          'x-content-type-options': 'nosniff',
          // the key reveals the order, so other pages must not learn the key
          'referrer-policy': 'no-referrer',
          'cache-control': 'private, max-age=3600',
        })
        .send(file.content);
    },
  });
}
