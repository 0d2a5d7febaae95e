import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** A report of the attacked process about itself. It comes over IPC, because the attack may have closed HTTP. */
export interface ProbeSample {
  /** Delays of the event loop since the last sample. */
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  readonly heapBytes: number;
  /** Handles and requests that keep the process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Resolution of the delay measurement, in ms. Each measured delay also contains this period of the timer. */
const resolutionMs = 10;

/**
 * Answers requests for samples. This file is loaded with `--import` before the service. Threads load it too, but answer
 * nothing.
 */
function answerSamples(): void {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  const lateMs = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - resolutionMs);
  process.on('message', (message) => {
    if (message === 'collect') {
      globalThis.gc?.();
      delays.reset();
      process.send?.('collected');
      return;
    }
    if (message !== 'sample') return;
    const resources: Record<string, number> = {};
    for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
    const sample: ProbeSample = {
      loopP99Ms: lateMs(delays.percentile(99)),
      loopMaxMs: lateMs(delays.max),
      heapBytes: process.memoryUsage().heapUsed,
      resources,
    };
    delays.reset();
    process.send?.(sample);
  });
  // a service must end by itself if its parent is gone
  process.channel?.unref();
}

if (isMainThread && process.send !== undefined) answerSamples();
