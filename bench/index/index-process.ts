import { renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { processOutcome } from '../process-outcome.ts';
import type { Stage } from './stages.ts';

/** The task of a separate process, so that its memory and event loop are measured alone. */
export interface IndexTask {
  readonly folder: string;
  readonly dataDir: string;
  /** Last height of the bulk load; null: the whole folder. */
  readonly bulkUntil: number | null;
  /** Whether to continue after the bulk load to the folder's tip, block by block, with the time of each. */
  readonly tip: boolean;
  /** Whether to profile time and memory, which costs some of both. */
  readonly stages: boolean;
}

export interface IndexOutcome {
  readonly inscriptions: number;
  readonly blocks: number;
  readonly bytes: number;
  /** From the start to the last commit, with all secondary indexes. */
  readonly indexMs: number;
  /** The time to seal the rest after that. */
  readonly sealMs: number;
  /** At each commit: milliseconds since the start, and inscriptions so far. */
  readonly commits: readonly (readonly [ms: number, inscriptions: number])[];
  readonly eventLoopP99Ms: number;
  readonly peakMemoryMB: number;
  /** All tables with their indexes, after VACUUM and a checkpoint. */
  readonly databaseBytes: number;
  readonly sizes: readonly { readonly name: string; readonly bytes: number }[];
  readonly tipMs: readonly number[];
  readonly stages: readonly Stage[];
}

const processFile = fileURLToPath(new URL('./index-run.ts', import.meta.url));

/** Indexes in a new process with its own embedded Postgres; on success the data folder remains. */
export async function runIndex(task: IndexTask): Promise<IndexOutcome> {
  const dataDir = `${task.dataDir}.unfinished`;
  rmSync(dataDir, { recursive: true, force: true });
  const what = `indexing ${task.folder}`;
  const outcome = await processOutcome<IndexOutcome>(processFile, { ...task, dataDir }, what);
  rmSync(task.dataDir, { recursive: true, force: true });
  renameSync(dataDir, task.dataDir);
  return outcome;
}
