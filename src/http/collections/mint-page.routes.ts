import { Type } from 'typebox';
import { isCollectionSlug } from '#collections/reading/read-collection.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { collectionReads } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { page, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { mintPage } from '#web/pages/mint.page.ts';
import { mintPageView } from './mint-page-view.ts';

/** Paths that the page's script may request. It requests the page's own path to learn how many items are left. */
const connects = [
  '/price',
  '/collectionorder',
  '/getallocation',
  '/mint/',
  '/mempool/api/v1/fees/recommended',
];

/** Route of the page on which people buy items of a collection (docs/collections.md, "The page to mint"). */
export function mintPageRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/mint/:slug',
    schema: {
      operationId: 'mintPage',
      summary: 'The page on which people buy items of a collection',
      tags: ['pages'],
      params: Type.Object({
        slug: Type.String({ description: 'slug of the collection', examples: ['moths'] }),
      }),
      response: { 200: page('the page'), 304: unchanged },
    },
    config: { errors: 'ownPage', guard: collectionReads },
    handler: async (request, reply) => {
      const { slug } = request.params;
      const view = isCollectionSlug(slug) ? await mintPageView(deps, slug, askerOf(reply)) : null;
      if (view === null) throw new AppError('not_found', 'there is no such collection for sale');
      const challenge = typeof view.form.challenge === 'object';
      return sendPage(reply, mintPage(view), { thumbnails: true, connects, challenge });
    },
  });
}
