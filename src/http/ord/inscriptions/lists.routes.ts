import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { inscriptionIds } from '#chain/inscriptions/inscription.queries.ts';
import { OrdLists } from '#chain/inscriptions/ord-lists.ts';
import { type KeyPage, pageSize } from '#chain/inscriptions/relative.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { answerFromIndex, idText, sendOrd } from '#http/ord/answers/answers.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import { heightOf, placeOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged } from '#http/server/answers/conditional.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { keysBetween } from '#kernel/primitives/inscription-key.ts';

const tags = ['ord'] as const;
const config = { errors: 'plain', guard: open } as const;
const pagePath = Type.Object({ page: pathParts.page });
const response = ordAnswers.pageIndexOfIds;

/**
 * Maximum number of attempts to read the lists at the index's tip. An attempt fails if a new block arrives meanwhile.
 * After the last attempt, the response describes the lists at their own tip.
 */
const triesMax = 4;

/** Routes of lists of inscriptions: the collections, the galleries, and the inscriptions of a block. */
export function listsRoutes(app: App, deps: AppDependencies): void {
  const lists = new OrdLists();
  const closing = new AbortController();
  // Start early, so that the first request waits less. If this fails, the first request fails in the same way, and
  // reports it.
  app.addHook('onListen', (done) => {
    lists.bringUpToDate(deps.pool, closing.signal).catch((error: unknown) => {
      deps.logger.debug({ err: error }, 'the lists of collections and galleries could not be made');
    });
    done();
  });
  app.addHook('preClose', (done) => {
    closing.abort();
    done();
  });
  const listRoute = (
    name: 'collections' | 'galleries',
    summary: string,
    read: (page: number) => KeyPage,
  ): void => {
    const handler = async (
      request: FastifyRequest,
      reply: FastifyReply,
      pageText?: string,
    ): Promise<FastifyReply> => {
      const page = placeOf(pageText, 'page');
      if (await answeredUnchanged(deps.pool, request, reply)) return reply;
      for (let tries = 1; ; tries++) {
        const answer = await withSnapshot(
          deps.pool,
          async (snapshot) =>
            lists.areOf(snapshot.tip) || tries === triesMax
              ? { tip: lists.ofTip, json: await idsJson(snapshot, read(page), page) }
              : null,
          askerOf(reply).signal,
        );
        if (answer !== null) return sendOrd(request, reply, answer.tip, answer.json);
        // all waiting clients share this work, so it continues when one client disconnects
        await lists.bringUpToDate(deps.pool, closing.signal);
      }
    };
    const schema = { summary, tags, response };
    apiRoute(app, {
      method: 'GET',
      url: `/${name}`,
      schema: { ...schema, operationId: name },
      config,
      handler: async (request, reply) => handler(request, reply),
    });
    apiRoute(app, {
      method: 'GET',
      url: `/${name}/:page`,
      schema: { ...schema, operationId: `${name}Page`, params: pagePath },
      config,
      handler: async (request, reply) => handler(request, reply, request.params.page),
    });
  };
  listRoute('collections', 'Inscriptions with children, newest child first', (page) =>
    lists.collections(page),
  );
  listRoute('galleries', 'Inscriptions with a gallery, newest first', (page) => lists.galleryPage(page));
  blockListRoutes(app, deps);
}

function blockListRoutes(app: App, deps: AppDependencies): void {
  const inBlock = async (
    request: FastifyRequest,
    reply: FastifyReply,
    asked: { readonly height: string; readonly page?: string },
  ): Promise<FastifyReply> => {
    const height = heightOf(asked.height);
    const page = placeOf(asked.page, 'page');
    return answerFromIndex(deps, request, reply, {}, async (snapshot) =>
      idsJson(snapshot, await blockPage(snapshot, height, page, deps), page),
    );
  };
  const schema = { summary: 'Inscriptions of a block in the order of application', tags, response };
  const { height, page } = pathParts;
  apiRoute(app, {
    method: 'GET',
    url: '/inscriptions/block/:height',
    schema: { ...schema, operationId: 'inscriptionsInBlock', params: Type.Object({ height }) },
    config,
    handler: async (request, reply) => inBlock(request, reply, request.params),
  });
  apiRoute(app, {
    method: 'GET',
    url: '/inscriptions/block/:height/:page',
    schema: { ...schema, operationId: 'inscriptionsInBlockPage', params: Type.Object({ height, page }) },
    config,
    handler: async (request, reply) => inBlock(request, reply, request.params),
  });
}

async function idsJson({ client }: Snapshot, { keys, more }: KeyPage, page: number): Promise<string> {
  const ids = (await inscriptionIds(client, keys)).map(idText);
  return JSON.stringify({ ids, more, page_index: page });
}

/**
 * A page of a block's inscriptions. As in ord, the list is empty if the chain has not reached the height, and for
 * heights before the first inscription.
 */
async function blockPage(
  { client, tip }: Snapshot,
  height: Height,
  page: number,
  { network }: AppDependencies,
): Promise<KeyPage> {
  const block = await blockAt(client, { kind: 'height', height });
  if (block === null) {
    if (tip === null || height > tip.height || height < network.firstInscriptionHeight)
      return { keys: [], more: false };
    throw new AppError('not_found', `block ${height} is not indexed`);
  }
  const first = block.firstKey + page * pageSize;
  const end = block.firstKey + block.inscriptionCount;
  return { keys: keysBetween(first, Math.min(first + pageSize, end)), more: end > first + pageSize };
}
