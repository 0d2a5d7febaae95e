import { Piscina } from 'piscina';
import { compiledSha256 } from '#indexer/parse/sha256/sha256-lanes.ts';
import type { ParseJob, ParseJobResult, ParseThread } from './parse-job.ts';

/**
 * Threads that parse blocks. Starting a thread takes a quarter of a second, and full speed is only reached after some
 * hundred blocks, so consecutive pools can share the threads.
 */
export interface ParseThreads {
  readonly count: number;
  /** Parses one block. */
  run(job: ParseJob): Promise<ParseJobResult>;
  close(): Promise<void>;
}

export interface ParseThreadsOptions {
  readonly count: number;
  /** True if other work of this process has precedence for the processor. */
  readonly isBackground: boolean;
  /** Maximum number of jobs that wait for a thread. More jobs are an error of the caller, which has a look-ahead. */
  readonly queueMax: number;
}

export function startParseThreads({ count, isBackground, queueMax }: ParseThreadsOptions): ParseThreads {
  const workers = new Piscina<ParseJob, ParseJobResult>({
    filename: new URL('./parse.worker.ts', import.meta.url).href,
    // start all threads at once: this takes a quarter of a second, while the writer's memory can be read
    minThreads: count,
    maxThreads: count,
    maxQueue: Math.max(count ** 2, queueMax),
    workerData: { isBackground, sha256: compiledSha256() } satisfies ParseThread,
  });
  return {
    count,
    run: (job) => workers.run(job),
    close: () => workers.destroy(),
  };
}
