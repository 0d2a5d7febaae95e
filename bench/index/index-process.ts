import { renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { processOutcome } from '../process-outcome.ts';
import type { ProcessorMs } from '../processor-meter.ts';
import type { Stage } from './stages.ts';

/** The task of a separate process, in which memory and event loop are measured without other work. */
export interface IndexTask {
  readonly folder: string;
  readonly dataDir: string;
  /** Height at which the bulk load ends; `null` for the complete folder. */
  readonly bulkUntil: number | null;
  /**
   * Whether to continue after the bulk load, block by block up to the folder's tip, and measure the time of each block.
   */
  readonly tip: boolean;
  /** Whether to profile time and memory. Profiling itself takes time and memory. */
  readonly stages: boolean;
}

export interface IndexOutcome {
  readonly inscriptions: number;
  readonly blocks: number;
  readonly bytes: number;
  /** Time from the start to the last commit, with all secondary indexes. */
  readonly indexMs: number;
  /** Additional time until everything is sealed. */
  readonly sealMs: number;
  /** Processor time from the start until everything is sealed. */
  readonly processorMs: ProcessorMs;
  /** For each commit: milliseconds since the start, and the number of inscriptions so far. */
  readonly commits: readonly (readonly [ms: number, inscriptions: number])[];
  readonly eventLoopP99Ms: number;
  readonly peakMemoryMB: number;
  /** Size of all tables and their indexes, after VACUUM and a checkpoint. */
  readonly databaseBytes: number;
  readonly sizes: readonly { readonly name: string; readonly bytes: number }[];
  readonly tipMs: readonly number[];
  readonly stages: readonly Stage[];
}

const processFile = fileURLToPath(new URL('./index-run.ts', import.meta.url));

/** Indexes in a new process with its own embedded Postgres. If it succeeds, the data folder is kept. */
export async function runIndex(task: IndexTask): Promise<IndexOutcome> {
  const dataDir = `${task.dataDir}.unfinished`;
  rmSync(dataDir, { recursive: true, force: true });
  const what = `indexing ${task.folder}`;
  const outcome = await processOutcome<IndexOutcome>(processFile, { ...task, dataDir }, what);
  rmSync(task.dataDir, { recursive: true, force: true });
  renameSync(dataDir, task.dataDir);
  return outcome;
}
