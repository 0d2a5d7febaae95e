import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The task of a separate process. */
export interface DerivedTask {
  readonly folder: string;
  readonly dataDir: string;
  readonly indexRunes: boolean;
  readonly indexSales: boolean;
}

export interface DerivedOutcome {
  readonly wallMs: number;
  /** Processor time of our process, and of Postgres. */
  readonly oursMs: number;
  readonly postgresMs: number;
  readonly bytes: number;
  readonly balances: number;
  readonly sales: number;
  readonly runeBytes: number;
}

const processFile = fileURLToPath(new URL('./derived-run.ts', import.meta.url));

/** Indexes in a new process with its own embedded Postgres, which is removed. */
export async function runDerived(task: DerivedTask): Promise<DerivedOutcome> {
  rmSync(task.dataDir, { recursive: true, force: true });
  const child = fork(processFile, [JSON.stringify(task)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let outcome: DerivedOutcome | null = null;
  child.on('message', (message) => {
    outcome = message as DerivedOutcome;
  });
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  rmSync(task.dataDir, { recursive: true, force: true });
  if (outcome === null || code !== 0) throw new Error(`indexing ${task.folder} ended with ${String(code)}`);
  return outcome;
}
