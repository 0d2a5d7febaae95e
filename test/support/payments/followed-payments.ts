import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { unwatchScripts, type Watch, watchScripts } from '#payments/store/watches.store.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Bitcoind, type BitcoindOptions, startBitcoind } from '#test/support/node/bitcoind.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { expectSeen } from './seen-payments.ts';

const processFile = new URL('./payments-process.ts', import.meta.url).pathname;
/**
 * How long a check may take, in ms. On a busy machine this covers the starts of a node and of our process, and the
 * delay before a payment counts as gone.
 */
const settledMaxMs = 60_000;

/** A line of a log. */
export interface LogLine {
  readonly msg: string;
  readonly err?: { readonly code?: string; readonly message: string };
}

/** A real node with its chain, a database, and the process that follows payments, which tests may kill at any time. */
export class FollowedPayments {
  readonly bitcoind: Bitcoind;
  readonly chain: RegtestChain;
  readonly database: TestDatabase;
  readonly #blocks: Parameters<typeof expectSeen>[2] = new Map();
  /** Log lines of the processes. */
  readonly logged: LogLine[] = [];
  #child: ChildProcess | null = null;
  #second: ChildProcess | null = null;

  private constructor(bitcoind: Bitcoind, chain: RegtestChain, database: TestDatabase) {
    this.bitcoind = bitcoind;
    this.chain = chain;
    this.database = database;
  }

  static async start(options: BitcoindOptions = {}, blocks = 120): Promise<FollowedPayments> {
    const bitcoind = await startBitcoind(options);
    const chain = await RegtestChain.start(bitcoind.rpc, blocks);
    return new FollowedPayments(bitcoind, chain, await createTestDatabase());
  }

  /** Starts the process. `failpoint` (`NAME:N`) is where it kills itself. */
  follow(failpoint = ''): void {
    this.#child = this.#start(failpoint);
  }

  /** Starts a standby process. */
  standBy(): void {
    this.#second = this.#start('');
  }

  /** Kills the process. The standby process then follows payments. */
  async killFirst(): Promise<void> {
    await this.kill();
    this.#child = this.#second;
    this.#second = null;
  }

  #start(failpoint: string): ChildProcess {
    const { url } = this.database;
    const { rpcUrl, cookieFile } = this.bitcoind;
    const child = spawn(process.execPath, [processFile, url, rpcUrl, cookieFile, failpoint], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.logged.push(JSON.parse(line) as LogLine);
    });
    return child;
  }

  /** Settles when the process has killed itself. */
  async died(): Promise<void> {
    const child = this.#child;
    if (child === null) throw new Error('nothing follows payments');
    if (child.exitCode === null && child.signalCode === null) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('it did not pass the failpoint')), settledMaxMs);
        child.once('exit', () => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    if (child.signalCode !== 'SIGKILL')
      throw new Error(`it ended with ${child.exitCode ?? child.signalCode}`);
    this.#child = null;
  }

  /** Kills the process. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => void child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  watch(watcher: string, ...watches: Watch[]): Promise<void> {
    return withTransaction(this.database.pool, (tx) => watchScripts(tx, watcher, watches));
  }

  unwatch(watcher: string, ...scripts: Uint8Array[]): Promise<void> {
    return withTransaction(this.database.pool, (tx) =>
      unwatchScripts(tx, watcher, scripts.length === 0 ? undefined : scripts),
    );
  }

  /** Settles when the tables equal a scan of the node. Throws the last difference after a time. */
  seen(): ReturnType<typeof expectSeen> {
    return this.eventually(() => expectSeen(this.database.pool, this.bitcoind.rpc, this.#blocks));
  }

  /** Repeats a check until it passes. Throws the last difference after a time. */
  eventually<Result>(check: () => Promise<Result>): Promise<Exclude<Result, false>> {
    return waitUntil(check, { limitMs: settledMaxMs, everyMs: 100 });
  }

  async close(): Promise<void> {
    await this.killFirst();
    await this.kill();
    await this.bitcoind.remove();
    await this.database.drop();
  }
}
