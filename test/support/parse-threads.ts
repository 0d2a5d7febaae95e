import { afterAll } from 'vitest';
import { type ParseThreads, startParseThreads } from '#indexer/workers/parse-threads.ts';

let started: ParseThreads | null = null;

/** One thread that all runs of an indexer in a test file parse with: tests index small chains, again and again. */
export function parseThreads(): ParseThreads {
  // a file has some runs at once
  started ??= startParseThreads({ count: 1, isBackground: false, queueMax: 100 });
  return started;
}

afterAll(() => started?.close());
