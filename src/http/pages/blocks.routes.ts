import { Type } from 'typebox';
import { blocksBelow } from '#chain/blocks/block.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import type { BlockAnswers } from '#http/ord/blocks/block-answers.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { blockLine, siteOf } from '#http/server/answers/site.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { asHeight, maxHeight } from '#kernel/primitives/height.ts';
import { blocksPage } from '#web/pages/blocks.page.ts';

/** Maximum number of blocks on a page of the list. */
const blocksPerPage = 100;

/** Route of the list of blocks: an HTML page, or this server's own JSON. */
export function blocksRoutes(app: App, deps: AppDependencies, blocks: BlockAnswers): void {
  apiRoute(app, {
    method: 'GET',
    url: '/blocks',
    schema: {
      operationId: 'blocks',
      summary: 'Indexed blocks, with the known facts of each',
      tags: ['pages'],
      querystring: Type.Object({
        from: Type.Optional(
          Type.Integer({ minimum: 0, maximum: maxHeight, description: 'highest height of the page' }),
        ),
      }),
      response: ordAnswers.blocks,
    },
    config: { errors: 'plain', guard: open },
    handler: async (request, reply) => {
      if (prefersJson(request.headers.accept)) return blocks.blocks(request, reply);
      return withSnapshot(
        deps.pool,
        async ({ client, tip }) => {
          const { from } = request.query;
          const found = await blocksBelow(
            client,
            from === undefined ? null : asHeight(from),
            blocksPerPage + 1,
          );
          const lines = found.slice(0, blocksPerPage).map(blockLine);
          const below = found[blocksPerPage]?.height ?? null;
          return sendPage(reply, blocksPage({ site: siteOf(deps, tip), blocks: lines, below }));
        },
        askerOf(reply).signal,
      );
    },
  });
}
