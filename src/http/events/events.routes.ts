import { strict as assert } from 'node:assert';
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { eventHashes, eventText, lastSequence, requireEventTexts } from '#chain/events/events.queries.ts';
import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { plainText } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type EventKindIdentity, inscriptionKind } from '#kernel/events/event-kind.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight, maxHeight } from '#kernel/primitives/height.ts';
import { asStream, type EventStreams } from './event-streams.ts';
import { type FeedPosition, isFirst, positionAt, positionBehind } from './feed-position.ts';

const height = (description: string) => Type.Integer({ minimum: 0, maximum: maxHeight, description });
const hex = Type.String({ pattern: '^[0-9a-f]{64}$' });
const hashesAnswer = Type.Object({
  version: Type.Integer(),
  kind: Type.String(),
  hashes: Type.Array(
    Type.Object({ height: height('height of the block'), blockHash: hex, sha256: hex, cumulative: hex }),
  ),
});

const eventStream = {
  description: 'the events',
  content: {
    'application/x-ndjson': { schema: Type.String({ description: 'one JSON object per line' }) },
    'text/event-stream': { schema: Type.Unknown({ description: 'the same as server-sent events' }) },
  },
};

/** The id of an inscription event, or a sequence. */
const eventPlace = { pattern: `^[0-9]{1,15}(?:\\.${inscriptionKind.letter}[0-9]{1,9})?$` };

/** The parameters of these routes, with the names of the known kinds. */
function querySchemas(kinds: readonly EventKindIdentity[]) {
  const kind = Type.Unsafe<string>({
    type: 'string',
    enum: kinds.map(({ name }) => name),
    default: inscriptionKind.name,
    description: 'the kind of events',
  });
  return {
    events: Type.Object({
      kind,
      from: Type.Optional(
        Type.String({
          description: 'id of the first event, or a sequence',
          acceptedForm: eventPlace,
          examples: ['1'],
        }),
      ),
      after: Type.Optional(
        Type.String({
          description:
            'id of the last event that the client received, or a sequence that it received completely',
          acceptedForm: eventPlace,
          examples: ['12.0'],
        }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'the maximum number of events' }),
      ),
    }),
    hashes: Type.Object({
      kind,
      from: Type.Optional(height('the lowest height; absent: the newest blocks')),
      limit: Type.Integer({
        minimum: 1,
        maximum: 2000,
        default: 100,
        description: 'the maximum number of blocks',
      }),
    }),
    text: Type.Object({ kind }),
  };
}
type EventsQuery = Static<ReturnType<typeof querySchemas>['events']>;

const tags = ['events'] as const;
const config = { errors: 'own', guard: open } as const;

/** Routes of the outbox as a stream of events, and of the hashes of blocks (docs/events.md). */
export function eventsRoutes(app: App, deps: AppDependencies, streams: EventStreams): void {
  const { pool } = deps;
  const kinds = deps.eventKinds ?? [storedInscriptionKind];
  const query = querySchemas(kinds);
  hashRoutes(app, deps, kinds);
  apiRoute(app, {
    method: 'GET',
    url: '/events',
    schema: {
      operationId: 'events',
      summary:
        'Events of all blocks, from a position: NDJSON up to the tip, or server-sent events that continue',
      tags,
      querystring: query.events,
      response: { 200: eventStream },
    },
    config: { ...config, compression: 'stream' },
    handler: async (request, reply) => {
      const kind = kindNamed(kinds, request.query.kind);
      const asker = askerOf(reply);
      // call this before the first await; otherwise a request that is abandoned at once would still count as a stream
      if (request.method !== 'HEAD') streams.takePlace(asker);
      await requireEventTexts(pool, kind, asker.signal);
      const isLive = wantsServerSent(request);
      const lastEventId = isLive ? request.headers['last-event-id'] : undefined;
      const from = await startOf(kind, request.query, lastEventId, () =>
        isLive ? lastSequence(pool, asker.signal) : Promise.resolve(0),
      );
      asStream(reply, isLive);
      varyBy(reply, 'Accept');
      if (request.method === 'HEAD') return reply.send('');
      const rulesUpTo = isFirst(from) ? await lastSequence(pool, asker.signal) : 0;
      const part = { kind, from, rulesUpTo, limit: request.query.limit ?? Number.POSITIVE_INFINITY };
      return streams.send(reply, asker, part, isLive);
    },
  });
}

/** Returns the kind that a query names. The schema has already refused unknown names. */
function kindNamed(kinds: readonly StoredEventKind[], name: string): StoredEventKind {
  const kind = kinds.find((one) => one.name === name);
  assert(kind !== undefined, `${name} is not a registered kind of events`);
  return kind;
}

/** Routes of the hashes. Two instances can be compared by these hashes. */
function hashRoutes(app: App, { pool, network }: AppDependencies, kinds: readonly StoredEventKind[]): void {
  const query = querySchemas(kinds);
  apiRoute(app, {
    method: 'GET',
    url: '/events/hashes',
    schema: {
      operationId: 'eventHashes',
      summary: 'Hashes of blocks’ events of one kind, from a height; without a height, of the newest blocks',
      tags,
      querystring: query.hashes,
      response: { 200: hashesAnswer },
    },
    config,
    handler: async (request, reply) =>
      withSnapshot(
        pool,
        async ({ client, tip }) => {
          const { limit } = request.query;
          const kind = kindNamed(kinds, request.query.kind);
          const from = asHeight(request.query.from ?? Math.max(0, (tip?.height ?? 0) - limit + 1));
          const rows = await eventHashes(client, kind, from, limit);
          if (tip !== null) reply.header('x-indexed-height', tip.height);
          return reply.header('cache-control', 'no-cache').send({
            version: kind.version,
            kind: kind.name,
            hashes: rows.map((row) => ({
              height: row.height,
              blockHash: displayHash(row.blockHash),
              sha256: Buffer.from(row.sha256).toString('hex'),
              cumulative: Buffer.from(row.cumulative).toString('hex'),
            })),
          });
        },
        askerOf(reply).signal,
      ),
  });

  apiRoute(app, {
    method: 'GET',
    url: '/events/text/:height',
    schema: {
      operationId: 'eventText',
      summary: 'The canonical text of a block’s events of one kind: the hashed bytes',
      tags,
      querystring: query.text,
      params: Type.Object({ height: height('the height of the block') }),
      response: { 200: plainText('the text') },
    },
    config,
    handler: async (request, reply) => {
      const kind = kindNamed(kinds, request.query.kind);
      const { signal } = askerOf(reply);
      await requireEventTexts(pool, kind, signal);
      const text = await withSnapshot(
        pool,
        ({ client }) => eventText(client, kind, network.name, asHeight(request.params.height)),
        signal,
      );
      return reply.header('cache-control', 'no-cache').type('text/plain; charset=us-ascii').send(text);
    },
  });
}

function wantsServerSent({ headers: { accept } }: FastifyRequest): boolean {
  return accept !== undefined && /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/iu.test(accept);
}

/**
 * Returns the position at which a stream starts. When a client reconnects, this is after the last event that it
 * received, even if the URL names another position.
 */
async function startOf(
  kind: EventKindIdentity,
  { from, after }: EventsQuery,
  lastEventId: string | string[] | undefined,
  otherwise: () => Promise<number>,
): Promise<FeedPosition> {
  if (lastEventId !== undefined && lastEventId !== '') {
    return positionBehind('Last-Event-ID', String(lastEventId), kind);
  }
  if (from !== undefined && after !== undefined) {
    throw new AppError('request_invalid', 'only one of from and after can be given', { parameter: 'from' });
  }
  if (after !== undefined) return positionBehind('after', after, kind);
  if (from !== undefined) return positionAt('from', from, kind);
  return { sequence: (await otherwise()) + 1, index: 0 };
}
