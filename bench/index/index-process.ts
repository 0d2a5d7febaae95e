import { fork } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Stage } from './stages.ts';

/** What a process of its own is to index, so that its memory and its event loop are measured alone. */
export interface IndexTask {
  readonly folder: string;
  readonly dataDir: string;
  /** Last height of the bulk load; null: all. */
  readonly bulkUntil: number | null;
  /** Goes on behind the bulk load to the folder's tip, block by block, and times each. */
  readonly tip: boolean;
  /** Also finds out where time and memory go, which takes some of both. */
  readonly stages: boolean;
}

export interface IndexOutcome {
  readonly inscriptions: number;
  readonly blocks: number;
  readonly bytes: number;
  /** From the start to the last commit with all secondary indexes. */
  readonly indexMs: number;
  /** Sealing of what is not sealed, after that. */
  readonly sealMs: number;
  /** Milliseconds since the start and inscriptions by then, at each commit. */
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

/** Indexes in a new process with an embedded Postgres of its own; the data folder is there when it all went well. */
export async function runIndex(task: IndexTask): Promise<IndexOutcome> {
  const dataDir = `${task.dataDir}.unfinished`;
  rmSync(dataDir, { recursive: true, force: true });
  const child = fork(processFile, [JSON.stringify({ ...task, dataDir })], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let outcome: IndexOutcome | null = null;
  child.on('message', (message) => {
    outcome = message as IndexOutcome;
  });
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  if (outcome === null || code !== 0)
    throw new Error(`indexing ${task.folder} ended with code ${String(code)}`);
  rmSync(task.dataDir, { recursive: true, force: true });
  renameSync(dataDir, task.dataDir);
  return outcome;
}
