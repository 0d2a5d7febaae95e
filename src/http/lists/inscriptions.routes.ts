import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import type { InscriptionFilter } from '#chain/inscriptions/inscription-filter.ts';
import {
  heightOfKey,
  type ListPage,
  listInscriptions,
} from '#chain/inscriptions/inscription-list.queries.ts';
import { readCursor, writeCursor } from '#chain/snapshot/cursor.ts';
import { keysOfHeights } from '#chain/snapshot/inscription-keys.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import {
  filterOf,
  type ListQuery,
  listQuery,
  type Paging,
  pagingOf,
  wholeNumber,
} from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { cardOf, siteOf } from '#http/server/answers/site.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { pageOrJson, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { inscriptionsPage } from '#web/pages/inscriptions.page.ts';

/** A page has at most as many cards as ord's list has entries. */
const cardsMax = 100;

/** A cursor names the key that it follows. */
const keyBytes = 4;

const listAnswer = Type.Object({
  ids: Type.Array(Type.String()),
  more: Type.Boolean(),
  page_index: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});

/**
 * ord's list of all inscriptions, with our additions: filters, other orders and sizes, and cursors (docs/http.md).
 */
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

interface List {
  readonly filter: InscriptionFilter | null;
  readonly paging: Paging;
  readonly page: number;
}

interface Listed extends ListPage {
  readonly page: number;
  readonly nextCursor: string | null;
}

async function answer(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  query: ListQuery,
  page: number,
): Promise<FastifyReply> {
  const { pool } = deps;
  const filter = filterOf(query, deps.network);
  const isJson = prefersJson(request.headers.accept);
  const asked = pagingOf(query, 'desc');
  const paging = isJson ? asked : { ...asked, limit: Math.min(asked.limit, cardsMax) };
  if (page > 0 && (filter !== null || paging.cursor !== undefined)) {
    throw new AppError('request_invalid', 'page excludes filters and cursor: follow next_cursor instead');
  }
  varyBy(reply, 'Accept');
  if (isJson && (await answeredUnchanged(pool, request, reply))) return reply;
  return withSnapshot(
    pool,
    async (snapshot) => {
      const listed = await readList(snapshot, { filter, paging, page });
      const { tip, client } = snapshot;
      if (isJson) {
        setMoment(request, reply, tip);
        return reply.type('application/json; charset=utf-8').send(
          JSON.stringify({
            ids: listed.inscriptions.map(({ txid, index }) => formatInscriptionId(txid, index)),
            more: listed.endKey !== null,
            page_index: listed.page,
            next_cursor: listed.nextCursor,
          }),
        );
      }
      const keys = listed.inscriptions.map(({ key }) => key);
      const { cursor: _cursor, ...own } = query;
      const link = (more: Record<string, string>): string => {
        const parameters = new URLSearchParams({ ...own, ...more }).toString();
        return parameters === '' ? '/inscriptions' : `/inscriptions?${parameters}`;
      };
      const view = {
        site: siteOf(deps, tip),
        heading: 'Inscriptions',
        filters: Object.entries(own).filter(([name]) => name !== 'limit'),
        notes: [],
        runes: null,
        cards: (await inscriptionSummaries(client, keys)).map(cardOf),
        page: listed.page,
        first: listed.page > 0 ? link({}) : null,
        next: listed.nextCursor === null ? null : link({ cursor: listed.nextCursor }),
      };
      return sendPage(reply, inscriptionsPage(view), { thumbnails: true });
    },
    askerOf(reply).signal,
  );
}

async function readList({ client, tip }: Snapshot, { filter, paging, page }: List): Promise<Listed> {
  const { order, limit, cursor } = paging;
  const question = `inscriptions ${order} ${JSON.stringify(filter, hexOfBytes)}`;
  const place = cursor === undefined ? null : await readCursor(client, question, cursor, keyBytes);
  const pageIndex = place?.page ?? page;
  let after = place === null ? null : Buffer.from(place.position).readInt32BE();
  // keys have no gaps, so the offset of a page of all inscriptions is its first key
  if (page > 0) {
    const total = await nextKeyOf(client, tip);
    const before = page * limit;
    if (before >= total) {
      // ord's page past the end shows its first inscription again
      const first = await listInscriptions(client, { filter: {}, order: 'asc', limit: 1, after: null });
      return { ...first, endKey: null, page, nextCursor: null };
    }
    after = order === 'asc' ? before - 1 : total - before;
  }
  const listed = await listInscriptions(client, { filter: filter ?? {}, order, limit, after });
  if (listed.endKey === null) return { ...listed, page: pageIndex, nextCursor: null };
  const position = Buffer.alloc(keyBytes);
  position.writeInt32BE(listed.endKey);
  const height = await heightOfKey(client, listed.endKey);
  const nextCursor = await writeCursor(client, question, height, { page: pageIndex + 1, position });
  return { ...listed, page: pageIndex, nextCursor };
}

/** Writes a filter's bytes as text: cursors compare the question, and all processes must write it alike. */
function hexOfBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

async function nextKeyOf(client: Snapshot['client'], tip: Snapshot['tip']): Promise<number> {
  if (tip === null) return 0;
  const { end } = await keysOfHeights(client, { to: tip.height });
  return end ?? 0;
}
