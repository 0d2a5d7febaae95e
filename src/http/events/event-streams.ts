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

/** Content of a stream. */
export type StreamPart = Pick<FeedOptions, 'kind' | 'from' | 'rulesUpTo' | 'limit' | 'showPage'>;

/**
 * The open streams of events of all routes. They share the limits of their number and of their reads, and the
 * notification of new blocks.
 */
export class EventStreams {
  readonly #deps: Pick<AppDependencies, 'pool' | 'network'>;
  readonly #listener: OutboxListener;
  /** Streams being sent. */
  readonly #open = new Set<FastifyReply>();
  readonly #places = streamPlaces();
  readonly #reads = pageReads();

  constructor(app: App, deps: AppDependencies) {
    this.#deps = deps;
    this.#listener = new OutboxListener(deps.pool);
    tellOfClients(app, [this.#reads]);
    deps.operations.metrics.watchQueue('event streams', () => this.#places.state);
    // a live stream never ends by itself, so the server could not close; it is cut off, so that its client does not
    // take this for the end of the stream
    app.addHook('preClose', async () => {
      for (const reply of this.#open) reply.raw.destroy();
    });
  }

  /** Counts a stream of the client until the answer is sent. Throws `too_many_at_once` or `too_many_streams`. */
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

/** Sets the headers of a stream. Without `x-accel-buffering`, nginx would hold events back to fill its buffers. */
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
 * Limits the reads of pages. A page takes the database some ten milliseconds. While other clients read too, the pages
 * of a client with many streams are read one after another. A stream waits for its read as long as its client stays.
 */
function pageReads(): FairGate {
  return new FairGate({
    running: 4,
    eachBesideOthers: 1,
    restsBesideOthers: limits.restsBesideOthers,
    waiting: limits.eventStreams,
    waitMs: limits.requestTimeoutMs,
    refusal: () =>
      new AppError(
        'too_many_streams',
        'reads of event streams wait too long now: try again in a few seconds',
      ),
  });
}

async function* withRetry(events: AsyncGenerator<string>): AsyncGenerator<string> {
  // sent at once, so that the client knows that it is connected
  yield `retry: ${retryMs}\n\n`;
  yield* events;
}
