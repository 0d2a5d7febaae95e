import { Type } from 'typebox';
import { inscriptionKinds } from '#chain/inscriptions/inscription-filter.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import type { BlockAnswers } from '#http/ord/blocks/block-answers.ts';
import { text } from '#http/parameters/list-parameters.ts';
import { blockQuestionOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { open } from '#http/server/access/guard.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { blockTabs } from '#web/pages/block.page.ts';
import type { BlockFees } from './chain/block-fees.ts';
import { sendBlockPage } from './chain/block-page.ts';

interface BlockSources {
  readonly blocks: BlockAnswers;
  readonly fees: BlockFees;
}

/** Routes of a block: an HTML page, or this server's own JSON. */
export function blockRoutes(app: App, deps: AppDependencies, { blocks, fees }: BlockSources): void {
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
        tab: text('the list that the HTML page shows', { enum: [...blockTabs] }, 'sales'),
        kind: text(
          'a kind of content: the HTML page shows only this kind',
          { enum: [...inscriptionKinds] },
          'images',
        ),
        after: text(
          'a place from a link of the HTML page; the rows after it are shown',
          acceptedForms.cursor,
        ),
      }),
      response: ordAnswers.block,
    },
    // expensive, because data that the index lacks is read from the whole block
    config: { errors: 'plain', guard: open, isDear: true },
    handler: async (request, reply) => {
      const { query } = request.params;
      if (prefersJson(request.headers.accept)) return blocks.block(request, reply, query);
      return sendBlockPage(deps, fees, reply, blockQuestionOf(query), { query, ...request.query });
    },
  });
}
