import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Report of the attacked process about itself, over IPC, because the attack may have closed HTTP. */
export interface ProbeSample {
  /** Delays of the event loop since the last sample. */
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  readonly heapBytes: number;
  /** Handles and requests that keep the process alive, by kind. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Also the timer's own period, which each measured delay contains. */
const resolutionMs = 10;

/** Loaded with `--import` before the service itself. Threads load it too, and have nothing to say. */
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
