import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Failpoint } from '#kernel/failpoint.ts';
import { machineEnvironment } from '#test/support/run-cli.ts';

export interface IndexerOptions {
  /** Name of its log file. */
  readonly name: string;
  readonly folder: string;
  /** Settings by environment variable. */
  readonly env: Readonly<Record<string, string>>;
}

export interface IndexerEnd {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The harness ended it. */
  readonly wanted: boolean;
  readonly failpoint: Failpoint | null;
  /** The documented error code that it ended with, if any. */
  readonly code: string | null;
}

const root = join(import.meta.dirname, '../..');

/** `satscribe serve` in its own process. */
export class IndexerProcess {
  readonly ended: Promise<IndexerEnd>;
  readonly #child: ChildProcess;
  #wanted = false;

  constructor({ name, folder, env }: IndexerOptions, armed: { name: Failpoint; passes: number } | null) {
    const file = join(folder, `${name}.log`);
    const log = openSync(file, 'a');
    const failpoint = armed === null ? {} : { FAILPOINT: `${armed.name}:${armed.passes}` };
    writeSync(log, `--- start ${new Date().toISOString()} ${JSON.stringify(failpoint)}\n`);
    const before = fstatSync(log).size;
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
        const said = readFileSync(file).subarray(before).toString();
        const code = /^ {2}([a-z_]+): /mu.exec(said)?.[1] ?? null;
        resolve({ exitCode, signal, wanted: this.#wanted, failpoint: armed?.name ?? null, code });
      };
      this.#child.once('exit', end);
    });
  }

  /** SIGKILL, at any point of its work. */
  async kill(): Promise<IndexerEnd> {
    this.#wanted = true;
    this.#child.kill('SIGKILL');
    return this.ended;
  }

  /** In order. */
  async stop(): Promise<IndexerEnd> {
    this.#wanted = true;
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}
