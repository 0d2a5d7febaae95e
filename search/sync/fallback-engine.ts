import type { SearchEngine, Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';

export interface FallbackEngineOptions {
  /** The preferred engine. Throws `search_engine_…` if it cannot answer in full. */
  readonly first: SearchEngine;
  /** Answers instead of `first`. Null: no engine does, and the error of `first` is thrown. */
  readonly fallback: SearchEngine | null;
  /**
   * Answers searches by hash instead of `first`, because these need no search index. Absent: `fallback` answers them.
   */
  readonly hashFallback?: SearchEngine;
  /** An answer is accepted if its block is at most this many blocks below the tip. */
  readonly lagMaxBlocks: number;
  /** Called with the reason when `fallback` begins to answer. Null: `first` answers again. */
  readonly onChange?: (problem: AppError | null) => void;
  /** Clock in milliseconds. */
  readonly now?: () => number;
}

export interface FallbackEngine extends SearchEngine {
  /** Why `first` did not answer the last search. Null: it answered. */
  problem(): AppError | null;
  /**
   * Records that the index of `first` is present and up to date. Earlier failures are then over, even without a search
   * since.
   */
  seeWhole(): void;
}

/**
 * How long a failed server gets no search, in ms. A silent server costs each search the whole time limit, so after a
 * failure only one search asks it again, and only after this time.
 */
const restMs = 2000;
/** How long a search may take until a client that left means a timeout, in ms. It is far longer than a search takes. */
const slowMs = 10_000;

/** Failures that are over once the index is complete. Whether searches are slow is only known from searches. */
const overOnceWhole: readonly string[] = [
  'search_engine_missing',
  'search_engine_behind',
  'search_engine_unreachable',
  'search_engine_tls',
];

/** The result of an engine, and the moment of the result. */
interface Answered {
  readonly tip: Tip | null;
}

/**
 * Failures after which the server gets no search for a while. Other failures are reported by the server immediately.
 */
const resting: readonly string[] = [
  'search_engine_unreachable',
  'search_engine_tls',
  'search_engine_slow',
  'search_engine_busy',
];

/**
 * Makes an engine in which the first engine answers searches while it can, and another engine answers while it cannot.
 * Each answer comes from one engine, in one moment.
 */
export function createFallbackEngine(options: FallbackEngineOptions): FallbackEngine {
  const { first, fallback, lagMaxBlocks, onChange, now = () => performance.now() } = options;
  const hashFallback = options.hashFallback ?? fallback;
  let problem: AppError | null = null;
  let restUntil = 0;

  const report = (next: AppError | null): void => {
    const isChange = next?.code !== problem?.code;
    problem = next;
    if (isChange) onChange?.(next);
  };

  const askFirst = async <Found extends Answered>(
    snapshot: Snapshot,
    ask: (engine: SearchEngine) => Promise<Found>,
  ): Promise<Found> => {
    if (problem !== null && now() < restUntil) throw problem;
    // other searches that arrive while this one runs do not wait for its result
    if (problem !== null && resting.includes(problem.code)) restUntil = now() + restMs;
    const askedAt = now();
    try {
      const hits = await ask(first);
      refuseLag(snapshot, hits, lagMaxBlocks);
      report(null);
      return hits;
    } catch (error) {
      const isGivenUp = snapshot.signal?.aborted === true && now() - askedAt >= slowMs;
      const failure = isGivenUp ? tooSlow() : error;
      if (!isOfEngine(failure)) throw error;
      if (resting.includes(failure.code)) restUntil = now() + restMs;
      report(failure);
      throw error;
    }
  };

  const answer = async <Found extends Answered>(
    snapshot: Snapshot,
    ask: (engine: SearchEngine) => Promise<Found>,
    instead: SearchEngine | null = fallback,
  ): Promise<Found> => {
    if (instead === null) return askFirst(snapshot, ask);
    try {
      return await askFirst(snapshot, ask);
    } catch (error) {
      if (!isOfEngine(error) && !isTooBroad(error)) throw error;
      return ask(instead);
    }
  };

  return {
    name: first.name,
    searchText: (snapshot, query) => answer(snapshot, (engine) => engine.searchText(snapshot, query)),
    searchHash: (snapshot, query) =>
      answer(snapshot, (engine) => engine.searchHash(snapshot, query), hashFallback),
    facetsOfText: (snapshot, matches) => answer(snapshot, (engine) => engine.facetsOfText(snapshot, matches)),
    facetsOfHash: (snapshot, matches) =>
      answer(snapshot, (engine) => engine.facetsOfHash(snapshot, matches), hashFallback),
    problem: () => problem,
    seeWhole: () => {
      if (problem !== null && overOnceWhole.includes(problem.code)) report(null);
    },
    close: async () => {
      await first.close();
      await fallback?.close();
      if (hashFallback !== fallback) await hashFallback?.close();
    },
  };
}

function refuseLag({ tip }: Snapshot, hits: Answered, lagMaxBlocks: number): void {
  const lag = (tip?.height ?? 0) - (hits.tip?.height ?? 0);
  if (lag <= lagMaxBlocks) return;
  throw new AppError('search_engine_behind', `Searches are ${lag} blocks behind the index.`, { lag });
}

const tooSlow = (): AppError =>
  new AppError('search_engine_slow', 'Elasticsearch did not answer before the client stopped waiting.');

/**
 * Whether a search is too broad for one engine. This says nothing about the server, and another engine has other
 * limits.
 */
const isTooBroad = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'search_too_broad';

function isOfEngine(error: unknown): error is AppError {
  return error instanceof AppError && error.code.startsWith('search_engine_');
}
