import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import { type Static, Type } from 'typebox';
import { lastSequence, requireEventTexts, sequenceFromHeight } from '#chain/events/events.queries.ts';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { galleryIndex } from '#chain/inscriptions/parents-and-galleries.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { asStream, type EventStreams, type StreamPart } from '#http/events/event-streams.ts';
import { type FeedPosition, isFirst, positionBehind } from '#http/events/feed-position.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { asHeight, maxHeight } from '#kernel/primitives/height.ts';
import { showSales } from './show-sales.ts';

const query = Type.Object({
  since: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxHeight,
      description: 'the height of the first block; above the tip there are no sales yet',
      examples: [840_000],
    }),
  ),
  after: Type.Optional(
    Type.String({
      description: 'id of the last line that the client received',
      acceptedForm: { pattern: `^[0-9]{1,15}(?:\\.${storedSaleKind.letter}[0-9]{1,9})?$` },
      examples: ['12.s3'],
    }),
  ),
});

type Asked = Pick<FastifyRequest, 'method' | 'headers'> & { readonly query: Static<typeof query> };

const tags = ['market'] as const;
const config = { errors: 'market', guard: open, compression: 'stream' } as const;
const lines = { schema: Type.String({ description: 'one JSON object per line' }) };
const events = { schema: Type.String({ description: 'the same lines as server-sent events' }) };

const ndjson = { 'application/x-ndjson': lines };
const serverSent = { 'text/event-stream': events };

/**
 * Routes of streams of the sales of all collections. The streams have undo lines (docs/marketplace-api.md, "Sales as a
 * stream").
 */
export function salesRoutes(app: App, deps: AppDependencies, streams: EventStreams): void {
  const { pool, network } = deps;
  const showPage = showSales(pool, network);

  async function send(request: Asked, reply: FastifyReply, isLive: boolean): Promise<void> {
    const asker = askerOf(reply);
    // count the stream before the first await, so that a request that is aborted at once does not stay counted
    if (request.method !== 'HEAD') streams.takePlace(asker);
    const seen = isLive ? request.headers['last-event-id'] : undefined;
    const { from, rulesUpTo } = await startOf(
      pool,
      request.query,
      seen === undefined ? undefined : String(seen),
      isLive,
      asker.signal,
    );
    asStream(reply, isLive);
    const limit = Number.POSITIVE_INFINITY;
    if (request.method === 'HEAD') reply.send('');
    else streams.send(reply, asker, { kind: storedSaleKind, from, rulesUpTo, limit, showPage }, isLive);
  }

  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/sales',
    schema: {
      operationId: 'marketSales',
      summary: 'Sales of all collections from a height, with a line for each undone block',
      tags,
      querystring: query,
      response: { 200: { description: 'the sales', content: ndjson } },
    },
    config,
    handler: async (request, reply) => {
      await send(request, reply, false);
      return reply;
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/marketplace/data/sales/stream',
    schema: {
      operationId: 'marketSalesStream',
      summary: 'The same as server-sent events, which continue with each new block',
      tags,
      querystring: query,
      response: { 200: { description: 'the sales', content: serverSent } },
    },
    config,
    handler: async (request, reply) => {
      await send(request, reply, true);
      return reply;
    },
  });
}

/**
 * Returns where a stream starts. If a reconnecting client names the last line that it received, the stream starts after
 * that line, whatever its URL says. In all other cases the client has no events by earlier rules, so lines about a
 * change of the rules are left out (ADR 52).
 */
async function startOf(
  pool: Pool,
  asked: Static<typeof query>,
  lastEventId: string | undefined,
  isLive: boolean,
  signal: AbortSignal,
): Promise<Pick<StreamPart, 'from' | 'rulesUpTo'>> {
  // check the request before the database is used
  const behind = namedPlace(asked, lastEventId);
  await requireEventTexts(pool, storedSaleKind, signal);
  await withCutConnection(pool, signal, (client) => requireIndexes(client, [galleryIndex], 'galleries'));
  if (behind !== null && !isFirst(behind)) return { from: behind, rulesUpTo: 0 };
  // Read the last sequence after the check that no rows are being rebuilt. A rebuild that starts later then has higher
  // sequences.
  const last = await lastSequence(pool, signal);
  const { since } = asked;
  const named = behind !== null || (since === undefined && !isLive) ? 1 : null;
  const found =
    since === undefined
      ? null
      : await withCutConnection(pool, signal, (client) => sequenceFromHeight(client, asHeight(since)));
  return { from: { sequence: named ?? found ?? last + 1, index: 0 }, rulesUpTo: last };
}

/**
 * The position of the last line that the client received. `null` if the request names no such line. Throws
 * `request_invalid`.
 */
function namedPlace(
  { since, after }: Static<typeof query>,
  lastEventId: string | undefined,
): FeedPosition | null {
  if (lastEventId !== undefined && lastEventId !== '')
    return positionBehind('Last-Event-ID', lastEventId, storedSaleKind);
  if (since !== undefined && after !== undefined) {
    const message = 'only one of since and after can be given';
    throw new AppError('request_invalid', message, { parameter: 'since' });
  }
  return after === undefined ? null : positionBehind('after', after, storedSaleKind);
}
