import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The task of a separate process. */
export interface RunesTask {
  readonly folder: string;
  readonly dataDir: string;
  readonly indexRunes: boolean;
}

export interface RunesOutcome {
  readonly wallMs: number;
  /** Processor time of our process, and of Postgres. */
  readonly oursMs: number;
  readonly postgresMs: number;
  readonly bytes: number;
  readonly balances: number;
  readonly runeBytes: number;
}

const processFile = fileURLToPath(new URL('./runes-run.ts', import.meta.url));

/** Indexes in a new process with its own embedded Postgres, which is removed. */
export async function runRunes(task: RunesTask): Promise<RunesOutcome> {
  rmSync(task.dataDir, { recursive: true, force: true });
  const child = fork(processFile, [JSON.stringify(task)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let outcome: RunesOutcome | null = null;
  child.on('message', (message) => {
    outcome = message as RunesOutcome;
  });
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  rmSync(task.dataDir, { recursive: true, force: true });
  if (outcome === null || code !== 0) throw new Error(`indexing ${task.folder} ended with ${String(code)}`);
  return outcome;
}
