import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { OutboxListener } from '#chain/events/outbox-listener.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type SiteDependencies, siteOf } from '#http/server/answers/site.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import { limits } from '#http/server/limits.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { LiveFacts } from './live-facts.ts';
import { liveParts } from './live-parts.ts';

/** How often the mempool and the fees are checked, in ms. New blocks need no check, because they are announced. */
const lookMs = 3_000;
/**
 * Pause after each check, in ms. During a first sync hundreds of blocks are announced per second, but people can follow
 * only a few updates.
 */
const restMs = 500;
/**
 * How often a keep-alive is sent while a stream is silent, in ms. Proxies close silent connections after 30 to 60 s,
 * and our own limit is 60 s.
 */
const heartbeatMs = 15_000;
/**
 * How long a browser waits before it reconnects, in ms. It is this long because all browsers reconnect at the same time
 * after a restart.
 */
const retryMs = 5_000;

/** A state of the live parts of pages, with its id. */
interface News {
  readonly id: string;
  readonly data: string;
}

/**
 * Streams of the current state. While any stream is open, one loop checks for changes. So each change is read and
 * converted to JSON only once, for any number of clients.
 */
export class LiveStreams {
  readonly #deps: Pick<AppDependencies, 'pool' | 'logger'> & SiteDependencies;
  readonly #facts: LiveFacts;
  readonly #listener: OutboxListener;
  readonly #open = new Set<FastifyReply>();
  readonly #waiting = new Set<() => void>();
  readonly #closing = new AbortController();
  readonly #places = new Shares({
    what: 'live pages',
    total: limits.liveStreams,
    each: limits.liveStreamsEach,
    full: (message) => new AppError('too_many_streams', message),
  });
  #news: News | null = null;
  #looking: Promise<void> | null = null;

  constructor(app: App, deps: AppDependencies, facts: LiveFacts) {
    this.#deps = deps;
    this.#facts = facts;
    this.#listener = new OutboxListener(deps.pool);
    deps.operations.metrics.watchQueue('live pages', () => this.#places.state);
    app.addHook('preClose', async () => {
      this.#closing.abort();
      // cut the connections, because a live stream never ends by itself and would prevent the server from closing
      for (const reply of this.#open) reply.raw.destroy();
      await this.#looking;
    });
  }

  /**
   * Counts a live page for the client until the response has been sent. Throws `too_many_at_once` or
   * `too_many_streams`.
   */
  takePlace(asker: Asker): void {
    this.#places.take(asker);
  }

  /**
   * Starts a stream.
   *
   * @param seen the id of the state that the client already has; null if it has none
   */
  send(reply: FastifyReply, asker: Asker, seen: string | null): FastifyReply {
    this.#open.add(reply);
    asker.whenOut(() => {
      this.#open.delete(reply);
      this.#wake();
    });
    this.#start();
    return reply.send(Readable.from(this.#stream(asker.signal, seen), { objectMode: false }));
  }

  async *#stream(signal: AbortSignal, seen: string | null): AsyncGenerator<string> {
    // send this at once, so that the client knows that it is connected
    yield `retry: ${retryMs}\n\n`;
    let last = seen;
    while (!signal.aborted) {
      const news = this.#news;
      if (news !== null && news.id !== last) {
        last = news.id;
        yield `id: ${news.id}\nevent: parts\ndata: ${news.data}\n\n`;
      } else if (!(await this.#change(signal, heartbeatMs))) {
        yield ': \n\n';
      }
    }
  }

  #start(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
      // a client may have connected while the loop was ending
      if (this.#open.size > 0 && !this.#closing.signal.aborted) this.#start();
      // forget this state, because it may be old when the next client connects
      else this.#news = null;
    });
  }

  /** Checks while clients are connected. A failed check has no effect, because the next check reads the state again. */
  async #look(): Promise<void> {
    const reader = this.#listener.join();
    const { signal } = this.#closing;
    try {
      while (this.#open.size > 0 && !signal.aborted) {
        const mark = reader.mark();
        await this.#read();
        await setTimeout(restMs, undefined, { signal }).catch(() => undefined);
        await reader.news(mark, lookMs, signal);
      }
    } finally {
      reader.done();
    }
  }

  async #read(): Promise<void> {
    try {
      const data = await withSnapshot(
        this.#deps.pool,
        async ({ client, tip }) =>
          JSON.stringify(liveParts(await this.#facts.read(client), siteOf(this.#deps, tip))),
        null,
      );
      const id = createHash('sha256').update(data).digest('base64url').slice(0, 16);
      if (this.#news?.id === id) return;
      this.#news = { id, data };
      this.#wake();
    } catch (error) {
      this.#deps.logger.debug({ err: error }, 'live pages could not be read');
    }
  }

  /**
   * Waits until the state changes, the client disconnects, or the time is over. Returns whether one of the first two
   * happened.
   */
  #change(signal: AbortSignal, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (isChanged: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(changed);
        signal.removeEventListener('abort', changed);
        resolve(isChanged);
      };
      const changed = (): void => finish(true);
      const timer = globalThis.setTimeout(() => finish(false), timeoutMs);
      this.#waiting.add(changed);
      signal.addEventListener('abort', changed, { once: true });
    });
  }

  #wake(): void {
    for (const changed of this.#waiting) changed();
  }
}
