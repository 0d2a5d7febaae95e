import { type ParseThreads, startParseThreads } from '#indexer/workers/parse-threads.ts';

let started: ParseThreads | null = null;

/** One parse thread for all indexer runs of a test process, because tests index small chains many times. */
export function parseThreads(): ParseThreads {
  // a test file has several runs at once
  started ??= startParseThreads({ count: 1, isBackground: false, queueMax: 100 });
  return started;
}
