import { type ParseThreads, startParseThreads } from '#indexer/workers/parse-threads.ts';

let started: ParseThreads | null = null;

/** Returns the one parse thread for all indexer runs of a test process. Tests index small chains many times. */
export function parseThreads(): ParseThreads {
  // a test file may have several runs at once, so their requests may queue
  started ??= startParseThreads({ count: 1, isBackground: false, queueMax: 100 });
  return started;
}
