import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { Patience, pause } from '#kernel/retry.ts';
import { readMarker } from '#search/elastic/server/marker.ts';
import { beginMerge, pointReadAlias, readAlias } from '#search/elastic/server/search-index.ts';
import { type BuildProgress, buildIndex, type IndexBuildOptions } from './index-build.ts';
import { readCatalog } from './index-catalog.ts';
import { readDatabaseIdentity } from './outbox.ts';
import { IndexSync, type StepDone } from './sync-step.ts';

/** Tells when the outbox may have grown (src/chain/events/outbox-listener.ts). */
export interface OutboxNews {
  /** Returns a mark. Call it before reading the outbox. */
  mark(): number;
  /** Settles when something was written after `mark`, at the latest after `timeoutMs`, or when aborted. */
  news(mark: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
}

export interface SearchSyncOptions
  extends Omit<IndexBuildOptions, 'chain' | 'signal' | 'onProgress' | 'onRetry' | 'loadKeysMax'> {
  readonly databaseUrl: string;
  readonly news: OutboxNews;
  /** Maximum number of inscriptions in a step, unless one block has more. */
  readonly keysMax?: number;
  readonly loadKeysMax?: number;
  /** How long an index is followed before it is merged after a build. Default: a minute. */
  readonly mergeAfterMs?: number;
  readonly onStep?: (done: StepDone, seconds: number) => void;
  readonly onBuild?: (progress: BuildProgress | null) => void;
  /** Called if another process works on the index. This process takes over when the other one ends. */
  readonly onStandby?: () => void;
  /** Called with the failure that is being retried. Null: work continues. */
  readonly onProblem?: (error: AppError | null) => void;
}

/**
 * Maximum number of inscriptions in a step while the index answers searches. They take a few seconds of work before
 * they become visible.
 */
const keysMaxDefault = 100_000;
/** How often to check that the index is still served while the outbox does not change, in ms. */
const lookMs = 2000;
/** How often a process checks while it stands by, or waits for a build of another process, in ms. */
const standbyMs = 1000;
/**
 * How long an index is followed before it is merged, in ms. It is twice as long as a server keeps recent writes for
 * replicas (`beginMerge`).
 */
export const mergeAfterMsDefault = 60_000;
const mergeAgainMs = 600_000;
const pauseFirstMs = 250;
const pauseMaxMs = 10_000;

/**
 * Keeps the served index up to date: builds an index if none is served for this database, and follows the outbox. Any
 * number of processes may run it: one works, and the others stand by. Ends with the signal. Failures are retried as the
 * table of error codes says. Failures that are not retried are thrown (`postgres_refused`, `postgres_damaged`).
 */
export async function runSearchSync(given: SearchSyncOptions, signal: AbortSignal): Promise<void> {
  let isTold = false;
  const options: SearchSyncOptions = {
    ...given,
    onProblem: (problem) => {
      isTold = problem !== null;
      given.onProblem?.(problem);
    },
  };
  const session = new SyncSession(options, signal);
  const patience = new Patience({ firstPauseMs: pauseFirstMs, pauseMaxMs, waitsForPeople: true });
  while (!signal.aborted) {
    try {
      await session.work(() => {
        if (isTold) options.onProblem?.(null);
        patience.reset();
      });
    } catch (error) {
      if (signal.aborted) break;
      const failure = failureOf(error);
      if (failure.code === 'database_busy') {
        options.onStandby?.();
        await pause(standbyMs, signal);
        continue;
      }
      options.onProblem?.(failure);
      const pauseMs = patience.delayAfter(failure);
      if (pauseMs === null) {
        await session.close();
        throw failure;
      }
      await pause(pauseMs, signal);
    }
  }
  await session.close();
}

/**
 * Turns an error into a failure. If the error is not an operating failure, it is a bug or not known yet: it is logged
 * in full and retried.
 */
function failureOf(error: unknown): AppError {
  const known = postgresFailure(error);
  if (known instanceof AppError) return known;
  const message = error instanceof Error ? error.message : String(error);
  return new AppError('search_engine_failed', `The search sync failed: ${message}`, {}, error);
}

/** The connection that holds the lock, and the work that needs the lock. */
class SyncSession {
  readonly #options: SearchSyncOptions;
  readonly #signal: AbortSignal;
  #chain: pg.Client | null = null;

  constructor(options: SearchSyncOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Works until another index is served. Calls `onGood` after each success. */
  async work(onGood: () => void): Promise<void> {
    const chain = await this.#open();
    try {
      const { elastic, prefix, network } = this.#options;
      const { served, servedToo } = await readCatalog(elastic, prefix, network);
      if (served !== null && servedToo.length > 0) {
        await pointReadAlias(elastic, readAlias(prefix, network), served);
      }
      const sync = served === null ? null : await this.#openServed(served, chain);
      if (served === null || sync === null) await this.#build();
      else await this.#follow(served, sync, onGood);
      onGood();
    } catch (error) {
      if (error instanceof AppError && error.code === 'search_engine_foreign') {
        this.#options.onProblem?.(error);
        await this.#build();
        return;
      }
      // close a broken connection, because the lock may be lost
      if (failureOf(error).code !== 'database_busy') await this.close();
      throw error;
    }
  }

  /** Connects and takes the lock. Throws `database_busy` if another process holds it. */
  async #open(): Promise<pg.Client> {
    this.#chain ??= await connectClient(this.#options.databaseUrl, 'satscribe search sync');
    await takeOnce(this.#chain);
    return this.#chain;
  }

  async #openServed(index: string, chain: pg.ClientBase): Promise<IndexSync | null> {
    const { elastic, keysMax = keysMaxDefault, onProblem } = this.#options;
    const sync = await IndexSync.open({
      elastic,
      index,
      chain,
      signal: this.#signal,
      keysMax,
      ...(onProblem === undefined ? {} : { onRetry: onProblem }),
    });
    // a served index is complete, so an index in state `loading` has replaced it
    return sync?.marker.state === 'loading' ? null : sync;
  }

  async #follow(index: string, sync: IndexSync, onGood: () => void): Promise<void> {
    const { news, onStep, mergeAfterMs = mergeAfterMsDefault } = this.#options;
    let mergeAt = performance.now() + mergeAfterMs;
    while (!this.#signal.aborted) {
      const mark = news.mark();
      const startedAt = performance.now();
      const done = await sync.step();
      onStep?.(done, (performance.now() - startedAt) / 1000);
      onGood();
      if (done.kind !== 'nothing') continue;
      if (!sync.marker.isMerged && performance.now() >= mergeAt) {
        await this.#merge(index, sync);
        mergeAt = performance.now() + mergeAgainMs;
      }
      await news.news(mark, lookMs, this.#signal);
      if (!(await this.#isStill(index, sync))) return;
    }
  }

  /** Merges segments. Nothing depends on the merge, so a failure is reported and the merge is tried again later. */
  async #merge(index: string, sync: IndexSync): Promise<void> {
    try {
      await beginMerge(this.#options.elastic, index);
    } catch (error) {
      this.#options.onProblem?.(failureOf(error));
      return;
    }
    await sync.mark({ isMerged: true });
  }

  /** Whether searches still read this index, and its marker is the marker of this process. */
  async #isStill(index: string, sync: IndexSync): Promise<boolean> {
    const { elastic, prefix, network } = this.#options;
    const { served, servedToo } = await readCatalog(elastic, prefix, network);
    if (served !== index || servedToo.length > 0) return false;
    const placed = await readMarker(elastic, index);
    return placed !== null && sync.isAt(placed);
  }

  async #build(): Promise<void> {
    const { databaseUrl, onBuild } = this.#options;
    const chain = await connectClient(databaseUrl, 'satscribe search build');
    try {
      await takeAdvisoryLock(chain, 'searchBuild');
      if ((await readDatabaseIdentity(chain)) === null) {
        await pause(standbyMs, this.#signal);
        return;
      }
      await buildIndex({
        ...this.#options,
        chain,
        signal: this.#signal,
        ...(onBuild === undefined ? {} : { onProgress: onBuild }),
        ...(this.#options.onProblem === undefined ? {} : { onRetry: this.#options.onProblem }),
      });
      onBuild?.(null);
    } finally {
      await chain.end().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    const chain = this.#chain;
    this.#chain = null;
    await chain?.end().catch(() => undefined);
  }
}

const holders = new WeakSet<pg.Client>();

/** Takes the lock once per session, because a session counts how often it took an advisory lock. */
async function takeOnce(chain: pg.Client): Promise<void> {
  if (holders.has(chain)) return;
  await takeAdvisoryLock(chain, 'searchSync');
  holders.add(chain);
}
