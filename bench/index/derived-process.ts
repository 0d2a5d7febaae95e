import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { processOutcome } from '../process-outcome.ts';

/** The task of a separate process. */
export interface DerivedTask {
  readonly folder: string;
  readonly dataDir: string;
  readonly indexRunes: boolean;
  readonly indexSales: boolean;
}

export interface DerivedOutcome {
  readonly wallMs: number;
  /** Processor time of our process, and that of Postgres, in ms. */
  readonly oursMs: number;
  readonly postgresMs: number;
  readonly bytes: number;
  readonly balances: number;
  readonly sales: number;
  readonly runeBytes: number;
}

const processFile = fileURLToPath(new URL('./derived-run.ts', import.meta.url));

/** Indexes in a new process with its own embedded Postgres, which is removed afterwards. */
export async function runDerived(task: DerivedTask): Promise<DerivedOutcome> {
  rmSync(task.dataDir, { recursive: true, force: true });
  try {
    return await processOutcome<DerivedOutcome>(processFile, task, `indexing ${task.folder}`);
  } finally {
    rmSync(task.dataDir, { recursive: true, force: true });
  }
}
