import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchCounts, Failpoint, Seam } from '#kernel/process/failpoint.ts';
import { machineEnvironment } from '#test/support/run-cli.ts';

export interface IndexerOptions {
  /** Name of the log file. */
  readonly name: string;
  readonly folder: string;
  /** Settings by environment variable. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A seam at which a process kills itself, or is held when its next batch is decided. Before that, it passes the seam a
 * number of times.
 */
export interface SeamArmed {
  readonly name: Seam;
  readonly passes: number;
  readonly how: 'overlapped' | 'held';
}

/** A seam, or a point at which the process kills itself at once (docs/chaos.md). */
export type Armed =
  | SeamArmed
  | { readonly name: Failpoint; readonly passes: number; readonly how: 'at once' };

export interface IndexerEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Whether the test harness ended the process. */
  readonly wanted: boolean;
  readonly armed: Armed | null;
  /** The report of the process at a seam; `null` if the process reached no seam. */
  readonly batches: BatchCounts | null;
  /** The documented error code of the process's end, if it had one. */
  readonly code: string | null;
}

const root = join(import.meta.dirname, '../../..');

/** `satscribe serve` in its own process. */
export class IndexerProcess {
  readonly ended: Promise<IndexerEnd>;
  readonly #child: ChildProcess;
  readonly #file: string;
  readonly #logFrom: number;
  #wanted = false;

  constructor({ name, folder, env }: IndexerOptions, armed: Armed | null) {
    this.#file = join(folder, `${name}.log`);
    const log = openSync(this.#file, 'a');
    const failpoint = armed === null ? {} : { FAILPOINT: settingOf(armed) };
    writeSync(log, `--- start ${new Date().toISOString()} ${JSON.stringify(failpoint)}\n`);
    this.#logFrom = fstatSync(log).size;
    this.#child = spawn(
      process.execPath,
      ['--trace-deprecation', 'src/main.ts', 'serve', '--data', join(folder, `${name}-data`)],
      {
        cwd: root,
        env: {
          ...machineEnvironment(),
          SEARCH_ACCESS: 'open',
          SEARCH_ADDRESS_RATE: '0',
          ...env,
          ...failpoint,
        },
        stdio: ['ignore', log, log],
      },
    );
    this.ended = new Promise((resolve) => {
      const end = (exitCode: number | null, signal: NodeJS.Signals | null): void => {
        closeSync(log);
        const code = /^ {2}([a-z_]+): /mu.exec(this.#said())?.[1] ?? null;
        resolve({ exitCode, signal, wanted: this.#wanted, armed, batches: this.batchesAtSeam(), code });
      };
      this.#child.once('exit', end);
    });
  }

  /** Numbers of batches of the process's writer at the seam; `null` if the process has not reached the seam. */
  batchesAtSeam(): BatchCounts | null {
    const numbers = /^failpoint \S+: (\d+) batches decided, (\d+) committed$/mu.exec(this.#said());
    return numbers === null ? null : { decided: Number(numbers[1]), committed: Number(numbers[2]) };
  }

  /** Lets the process continue from its seam. */
  resume(): void {
    this.#child.kill('SIGCONT');
  }

  /** Kills the process with SIGKILL, at any point of its work. */
  async kill(): Promise<IndexerEnd> {
    this.#wanted = true;
    this.#child.kill('SIGKILL');
    return this.ended;
  }

  /** Ends the process in order. */
  async stop(): Promise<IndexerEnd> {
    this.#wanted = true;
    this.#child.kill('SIGTERM');
    return this.ended;
  }

  #said(): string {
    return readFileSync(this.#file).subarray(this.#logFrom).toString();
  }
}

function settingOf({ name, passes, how }: Armed): string {
  return how === 'at once' ? `${name}:${passes}` : `${name}:${passes}:${how}`;
}
