import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { OutboxListener } from '#chain/events/outbox-listener.ts';
import { tellOfClients } from '#http/server/budgets/budgets.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import { limits } from '#http/server/limits.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type FeedOptions, feedEvents, ndjsonForm, serverSentForm } from './event-feed.ts';

/** How long a client waits before it reconnects after its stream ended, in ms. */
const retryMs = 2000;

/** The events that a stream contains. */
export type StreamPart = Pick<FeedOptions, 'kind' | 'from' | 'rulesUpTo' | 'limit' | 'showPage'>;

/**
 * The open event streams of all routes. They share the limits on their number and on their reads, and the notification
 * of new blocks.
 */
export class EventStreams {
  readonly #deps: Pick<AppDependencies, 'pool' | 'network'>;
  readonly #listener: OutboxListener;
  /** Streams that are being sent. */
  readonly #open = new Set<FastifyReply>();
  readonly #places = streamPlaces();
  readonly #reads = pageReads();

  constructor(app: App, deps: AppDependencies) {
    this.#deps = deps;
    this.#listener = new OutboxListener(deps.pool);
    tellOfClients(app, [this.#reads]);
    deps.operations.metrics.watchQueue('event streams', () => this.#places.state);
    // A live stream never ends by itself, so it would prevent the server from closing. Its connection is cut, so that
    // the client does not think that the stream has ended.
    app.addHook('preClose', async () => {
      for (const reply of this.#open) reply.raw.destroy();
    });
  }

  /**
   * Counts a stream for the client until the response has been sent. Throws `too_many_at_once` or `too_many_streams`.
   */
  takePlace(asker: Asker): void {
    this.#places.take(asker);
  }

  send(reply: FastifyReply, asker: Asker, part: StreamPart, isLive: boolean): FastifyReply {
    const { pool, network } = this.#deps;
    const live = isLive ? this.#listener.join() : null;
    this.#open.add(reply);
    asker.whenOut(() => {
      this.#open.delete(reply);
      live?.done();
    });
    const events = feedEvents({
      ...part,
      pool,
      network: network.name,
      form: isLive ? serverSentForm : ndjsonForm,
      live,
      asker,
      reads: this.#reads,
    });
    return reply.send(Readable.from(isLive ? withRetry(events) : events, { objectMode: false }));
  }
}

/** Sets the headers of a stream. Without `x-accel-buffering`, nginx would delay events until its buffers are full. */
export function asStream(reply: FastifyReply, isLive: boolean): FastifyReply {
  return reply
    .type(isLive ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson')
    .headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
}

function streamPlaces(): Shares {
  return new Shares({
    what: 'streams of events',
    total: limits.eventStreams,
    each: limits.eventStreamsEach,
    full: (message) => new AppError('too_many_streams', message),
  });
}

/**
 * Limits how many pages are read at the same time. A page costs the database some ten milliseconds. If a client has
 * many streams, their pages are read one after another while other clients read too. A stream waits for its read until
 * its client disconnects.
 */
function pageReads(): FairGate {
  return new FairGate({
    running: 4,
    eachBesideOthers: 1,
    restsBesideOthers: limits.restsBesideOthers,
    waiting: limits.eventStreams,
    waitMs: limits.requestTimeoutMs,
    refusal: () =>
      new AppError('too_many_streams', 'event streams have to wait too long now; try again in a few seconds'),
  });
}

async function* withRetry(events: AsyncGenerator<string>): AsyncGenerator<string> {
  // send this at once, so that the client knows that it is connected
  yield `retry: ${retryMs}\n\n`;
  yield* events;
}
