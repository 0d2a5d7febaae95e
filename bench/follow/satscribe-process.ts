import { type ChildProcess, spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';

const root = join(import.meta.dirname, '../..');

/** Settings with which a process reaches a node. */
export function nodeSettings({ rpcUrl, cookieFile }: Bitcoind): Record<string, string> {
  return { BITCOIN_RPC_URL: rpcUrl, BITCOIN_COOKIE_FILE: cookieFile };
}

/** Number of characters of the log that are shown if a process ends too early. Its folder is removed afterwards. */
const shownOfLog = 2000;

/** A separate process of `satscribe` with arguments and a data folder. Its output is in `output.log`. */
export class SatscribeProcess {
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #log: string;
  #said = '';
  readonly #watchers = new Set<() => void>();

  private constructor(words: readonly string[], dataDir: string, env: Record<string, string>) {
    this.#log = join(dataDir, 'output.log');
    const stderr = openSync(this.#log, 'a');
    this.#child = spawn(process.execPath, ['src/main.ts', ...words, '--data', dataDir], {
      cwd: root,
      // no limits, because the bench measures searches
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '/',
        SEARCH_ACCESS: 'open',
        SEARCH_ADDRESS_RATE: '0',
        ...env,
      },
      stdio: ['ignore', 'pipe', stderr],
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
      for (const watch of this.#watchers) watch();
    });
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code) => resolve(code));
    });
  }

  static async start(
    words: readonly string[],
    dataDir: string,
    env: Record<string, string>,
  ): Promise<SatscribeProcess> {
    await mkdir(dataDir, { recursive: true, mode: 0o755 });
    return new SatscribeProcess(words, dataDir, env);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Waits until the API answers. Returns its URL. */
  async ready(): Promise<string> {
    const found = new Promise<string>((resolve) => {
      const look = (): void => {
        const address = /^ready (\S+)/mu.exec(this.#said)?.[1];
        if (address === undefined) return;
        this.#watchers.delete(look);
        resolve(address.replace(/\/$/u, ''));
      };
      this.#watchers.add(look);
      look();
    });
    return this.during(() => found);
  }

  /** Runs work that needs the process. Throws the end of the log if the process ends before the work. */
  during<Result>(work: () => Promise<Result>): Promise<Result> {
    const ended = this.ended.then(async (code) => {
      const log = await readFile(this.#log, 'utf8');
      throw new Error(
        `satscribe ended with code ${String(code)}. Its log ends with: ${log.slice(-shownOfLog)}`,
      );
    });
    return Promise.race([work(), ended]);
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.ended;
  }

  /** Settles when the process ends. Throws if it fails. */
  async success(): Promise<void> {
    const code = await this.ended;
    if (code !== 0) throw new Error(`satscribe ended with code ${String(code)}, see ${this.#log}`);
  }
}
