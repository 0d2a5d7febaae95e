import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import {
  filterOf,
  type ListQuery,
  listQuery,
  pagingOf,
  wholeNumber,
} from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { sendInscriptionList } from './inscription-list.ts';
import { readList, refusePage } from './read-list.ts';

const listAnswer = Type.Object({
  ids: Type.Array(Type.String()),
  more: Type.Boolean(),
  page_index: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});

/** Routes of ord's list of all inscriptions. We add filters, other orders and sizes, and cursors (docs/ord-api.md). */
export function inscriptionsRoutes(app: App, deps: AppDependencies): void {
  const tags = ['inscriptions'] as const;
  const config = { errors: 'plain', guard: open, failures: [410] } as const;
  const response = { 200: pageOrJson(listAnswer, 'a page of inscriptions'), 304: unchanged };
  apiRoute(app, {
    method: 'GET',
    url: '/inscriptions',
    schema: {
      operationId: 'inscriptions',
      summary: 'Inscriptions, newest first, with filters: a page, or ord’s JSON',
      tags,
      querystring: listQuery,
      response,
    },
    config,
    handler: async (request, reply) => answer(deps, request, reply, request.query, 0),
  });

  apiRoute(app, {
    method: 'GET',
    url: '/inscriptions/:page',
    schema: {
      operationId: 'inscriptionsPage',
      summary: 'A page of all inscriptions, counted from 0',
      tags,
      params: Type.Object({
        page: Type.String({
          description: 'page number, from 0',
          acceptedForm: acceptedForms.count,
          examples: ['0'],
        }),
      }),
      querystring: listQuery,
      response,
    },
    config,
    handler: async (request, reply) => {
      const page = wholeNumber(request.params.page, 'page', { least: 0, most: 2 ** 32 - 1 }) ?? 0;
      return answer(deps, request, reply, request.query, page);
    },
  });
}

async function answer(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  query: ListQuery,
  page: number,
): Promise<FastifyReply> {
  varyBy(reply, 'Accept');
  if (!prefersJson(request.headers.accept)) return sendInscriptionList(deps, reply, query, page);
  const { pool, network } = deps;
  const filter = filterOf(query, network);
  const paging = pagingOf(query, 'desc');
  refusePage(page, filter, paging);
  if (await answeredUnchanged(pool, request, reply)) return reply;
  return withSnapshot(
    pool,
    async (snapshot) => {
      const listed = await readList(snapshot, { filter, paging, page });
      setMoment(request, reply, snapshot.tip);
      return reply.type('application/json; charset=utf-8').send(
        JSON.stringify({
          ids: listed.inscriptions.map(({ txid, index }) => formatInscriptionId(txid, index)),
          more: listed.endKey !== null,
          page_index: listed.page,
          next_cursor: listed.nextCursor,
        }),
      );
    },
    askerOf(reply).signal,
  );
}
