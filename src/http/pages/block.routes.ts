import { Type } from 'typebox';
import { blockAt, inscriptionSummaries, neighbourHeights } from '#chain/blocks/block.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import type { BlockAnswers } from '#http/ord/blocks/block-answers.ts';
import { blockQuestionOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { blockLine, cardOf, siteOf } from '#http/server/answers/site.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { keysBetween } from '#kernel/primitives/inscription-key.ts';
import { blockPage } from '#web/pages/block.page.ts';

/** Cards on a page of a block. */
const cardsPerPage = 60;

/** A block: a page, or our JSON. */
export function blockRoutes(app: App, deps: AppDependencies, blocks: BlockAnswers): void {
  apiRoute(app, {
    method: 'GET',
    url: '/block/:query',
    schema: {
      operationId: 'block',
      summary: 'A block by height or hash, and its inscriptions',
      tags: ['pages'],
      params: Type.Object({ query: pathParts.block }),
      querystring: Type.Object({
        page: Type.Integer({
          minimum: 1,
          maximum: 2 ** 31 - 1,
          default: 1,
          description: 'page number of the HTML page',
        }),
      }),
      response: ordAnswers.block,
    },
    // what the index lacks of a block is read from all its bytes
    config: { errors: 'plain', guard: open, isDear: true },
    handler: async (request, reply) => {
      const { query } = request.params;
      const { page } = request.query;
      if (prefersJson(request.headers.accept)) return blocks.block(request, reply, query);
      return withSnapshot(
        deps.pool,
        async ({ client, tip }) => {
          const question = blockQuestionOf(query);
          const block = await blockAt(client, question);
          if (block === null) throw new AppError('not_found', `block ${query.slice(0, 64)} not found`);
          const from = block.firstKey + (page - 1) * cardsPerPage;
          const to = Math.min(from + cardsPerPage, block.firstKey + block.inscriptionCount);
          const summaries = await inscriptionSummaries(client, keysBetween(from, to));
          const totalPages = Math.ceil(block.inscriptionCount / cardsPerPage);
          const line = blockLine(block);
          const view = {
            site: siteOf(deps, tip),
            block: line,
            ...(await neighbourHeights(client, block.height)),
            cards: summaries.map(cardOf),
            page,
            totalPages,
          };
          return sendPage(reply, blockPage(view), { thumbnails: true });
        },
        askerOf(reply).signal,
      );
    },
  });
}
