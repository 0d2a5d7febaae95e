import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { eventHashes, eventText, lastSequence, requireEventTexts } from '#chain/events/events.queries.ts';
import { OutboxListener } from '#chain/events/outbox-listener.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { plainText } from '#http/server/answer-schemas.ts';
import { apiRoute } from '#http/server/api-route.ts';
import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import { open } from '#http/server/guard.ts';
import { limits } from '#http/server/limits.ts';
import { varyBy } from '#http/server/vary.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { eventTextVersion } from '#kernel/events/event-text-writer.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type FeedPosition, feedEvents, ndjsonForm, serverSentForm } from './event-feed.ts';

const eventsQuery = Type.Object({
  /** Id of the first event, or a sequence. */
  from: Type.Optional(Type.String()),
  /** Id of the last event that was seen, or a sequence that was seen whole. */
  after: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
});
type EventsQuery = Static<typeof eventsQuery>;

const height = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });
const hashesQuery = Type.Object({
  from: Type.Optional(height),
  limit: Type.Integer({ minimum: 1, maximum: 2000, default: 100 }),
});
const hex = Type.String({ pattern: '^[0-9a-f]{64}$' });
const hashesAnswer = Type.Object({
  version: Type.Integer(),
  kind: Type.Literal('inscriptions'),
  hashes: Type.Array(Type.Object({ height, blockHash: hex, sha256: hex, cumulative: hex })),
});

/** How a client whose stream ended asks again, and how long it waits before. */
const retryMs = 2000;

const tags = ['events'] as const;
const config = { errors: 'own', guard: open } as const;

/** The outbox as a stream of events, and the hashes of blocks (docs/events.md). */
export function eventsRoutes(app: App, deps: AppDependencies): void {
  const { pool, network } = deps;
  hashRoutes(app, deps);
  const listener = new OutboxListener(pool);
  /** Streams that are being sent. */
  const open = new Set<FastifyReply>();
  deps.operations.metrics.watchQueue('event streams', () => ({
    length: open.size,
    limit: limits.eventStreams,
  }));
  // a live stream has no end of its own: the server could not close. Cut off, so that nobody takes it for the end
  app.addHook('preClose', async () => {
    for (const reply of open) reply.raw.destroy();
  });

  apiRoute(app, {
    method: 'GET',
    url: '/events',
    schema: {
      operationId: 'events',
      summary: 'What every block did, from a place on: NDJSON to the end, or server-sent events that go on',
      tags,
      querystring: eventsQuery,
      response: {
        200: {
          description: 'the events',
          content: {
            'application/x-ndjson': { schema: Type.String({ description: 'a JSON object a line' }) },
            'text/event-stream': { schema: Type.String({ description: 'the same, as server-sent events' }) },
          },
        },
      },
    },
    config: { ...config, compression: 'stream' },
    handler: async (request, reply) => {
      await requireEventTexts(pool);
      const isLive = wantsServerSent(request);
      const from = await startOf(request.query, isLive ? request.headers['last-event-id'] : undefined, () =>
        isLive ? lastSequence(pool) : Promise.resolve(0),
      );
      reply
        .type(isLive ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson')
        // nginx would hold events back to fill its buffers
        .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
      varyBy(reply, 'Accept');
      if (request.method === 'HEAD') return reply.send('');
      if (open.size >= limits.eventStreams) {
        throw new AppError('too_many_streams', `there are ${limits.eventStreams} streams of events already`);
      }
      return send(reply, from, request.query.limit ?? Number.POSITIVE_INFINITY, isLive);
    },
  });

  function send(reply: FastifyReply, from: FeedPosition, limit: number, isLive: boolean): FastifyReply {
    const controller = new AbortController();
    const live = isLive ? listener.join() : null;
    open.add(reply);
    // also when the client goes away before the first byte
    reply.raw.once('close', () => {
      controller.abort();
      open.delete(reply);
      live?.done();
    });
    const events = feedEvents({
      pool,
      network: network.name,
      from,
      limit,
      form: isLive ? serverSentForm : ndjsonForm,
      live,
      signal: controller.signal,
    });
    return reply.send(Readable.from(isLive ? withRetry(events) : events, { objectMode: false }));
  }
}

/** What two instances compare. */
function hashRoutes(app: App, { pool, network }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/events/hashes',
    schema: {
      operationId: 'eventHashes',
      summary: 'Hashes of the events of blocks, from a height on; without one, of the newest',
      tags,
      querystring: hashesQuery,
      response: { 200: hashesAnswer },
    },
    config,
    handler: async (request, reply) =>
      withSnapshot(pool, async ({ client, tip }) => {
        const { limit } = request.query;
        const from = request.query.from ?? Math.max(0, (tip?.height ?? 0) - limit + 1);
        const rows = await eventHashes(client, from, limit);
        if (tip !== null) reply.header('x-indexed-height', tip.height);
        return reply.header('cache-control', 'no-cache').send({
          version: eventTextVersion,
          kind: 'inscriptions',
          hashes: rows.map((row) => ({
            height: row.height,
            blockHash: displayHash(row.blockHash),
            sha256: Buffer.from(row.sha256).toString('hex'),
            cumulative: Buffer.from(row.cumulative).toString('hex'),
          })),
        });
      }),
  });

  apiRoute(app, {
    method: 'GET',
    url: '/events/text/:height',
    schema: {
      operationId: 'eventText',
      summary: 'The canonical text of the inscription events of a block: the bytes that are hashed',
      tags,
      params: Type.Object({ height }),
      response: { 200: plainText('the text') },
    },
    config,
    handler: async (request, reply) => {
      await requireEventTexts(pool);
      const text = await withSnapshot(pool, ({ client }) =>
        eventText(client, network.name, request.params.height),
      );
      if (text === null) throw new AppError('not_found', `block ${request.params.height} is not indexed`);
      return reply.header('cache-control', 'no-cache').type('text/plain; charset=us-ascii').send(text);
    },
  });
}

async function* withRetry(events: AsyncGenerator<string>): AsyncGenerator<string> {
  // sent at once: a client that is told nothing does not know that it is connected
  yield `retry: ${retryMs}\n\n`;
  yield* events;
}

function wantsServerSent({ headers: { accept } }: FastifyRequest): boolean {
  return accept !== undefined && /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/iu.test(accept);
}

const eventId = /^(\d{1,15})(?:\.(\d{1,9}))?$/u;

/** Where a stream begins: behind the last event that a client that reconnects has seen, whatever its URL says. */
async function startOf(
  { from, after }: EventsQuery,
  lastEventId: string | string[] | undefined,
  otherwise: () => Promise<number>,
): Promise<FeedPosition> {
  if (lastEventId !== undefined && lastEventId !== '') return behind('Last-Event-ID', String(lastEventId));
  if (from !== undefined && after !== undefined) {
    throw new AppError('request_invalid', 'only one of from and after can be given', { parameter: 'from' });
  }
  if (after !== undefined) return behind('after', after);
  if (from === undefined) return { sequence: (await otherwise()) + 1, index: 0 };
  const { sequence, index } = parseId('from', from);
  return { sequence, index: index ?? 0 };
}

/** Without an index the whole row was seen. */
function behind(name: string, text: string): FeedPosition {
  const { sequence, index } = parseId(name, text);
  return index === null ? { sequence: sequence + 1, index: 0 } : { sequence, index: index + 1 };
}

function parseId(name: string, text: string): { sequence: number; index: number | null } {
  const match = eventId.exec(text);
  if (match === null) {
    throw new AppError(
      'request_invalid',
      `${name} is not the id of an event, like 12.3, or a sequence, like 12`,
      { parameter: name },
    );
  }
  return { sequence: Number(match[1]), index: match[2] === undefined ? null : Number(match[2]) };
}
