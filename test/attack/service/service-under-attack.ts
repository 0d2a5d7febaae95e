import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ChainSize, makeHurtfulChain, type Targets } from '#test/attack/chain/hurtful-chain.ts';
import { databaseFolder } from '#test/support/database-folder.ts';
import { machineEnvironment } from '#test/support/run-cli.ts';
import { makeKeys } from './make-keys.ts';
import { takeOrders } from './make-orders.ts';
import { makeMarket } from './market-rows.ts';
import type { ProbeSample } from './probe.ts';
import { SlowNode } from './slow-node.ts';

const root = join(import.meta.dirname, '../../..');
/** Size of the heap of a process on a small server, in MB. */
const heapMegabytes = 1024;
/** How long to wait for a sample, in ms. A process with a blocked event loop answers late, or never. */
const probeWaitMs = 20_000;
const startWaitMs = 120_000;
const stopWaitMs = 30_000;

/**
 * Settings of a service on the internet, but without a proxy. Programs search with a key, or claim to be our page. The
 * limits by IP address are the defaults. All features are on, including the index of addresses.
 */
const settings = {
  SEARCH_ACCESS: 'restricted',
  LOG_LEVEL: 'warn',
  INDEX_ADDRESSES: 'true',
  // the attacker's file servers are on this machine
  ALLOW_PRIVATE_URLS: 'true',
} as const;

/** `satscribe serve` in its own process with its own Postgres. Its chain is made to do harm. */
export class ServiceUnderAttack {
  readonly targets: Targets;
  readonly #folder: string;
  readonly #sales: number;
  #running: { readonly child: ChildProcess; readonly port: number } | null = null;
  #node: SlowNode | null = null;
  #endOrders: (() => Promise<void>) | null = null;

  private constructor(folder: string, targets: Targets, sales: number) {
    this.#folder = folder;
    this.#sales = sales;
    this.targets = targets;
  }

  /** Makes the chain. Nothing runs yet, because the first start indexes the chain. */
  static prepare(size: ChainSize): ServiceUnderAttack {
    const folder = mkdtempSync(join(databaseFolder(), 'satscribe-attack-'));
    // if this test runs as root, the database runs as an ordinary account, which must be able to reach the folder
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'data'), { mode: 0o755 });
    return new ServiceUnderAttack(folder, makeHurtfulChain(join(folder, 'chain'), size), size.sales);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get port(): number {
    return this.#started.port;
  }

  /** False if the process has ended, by itself or by `kill`. */
  get isAlive(): boolean {
    return (
      this.#running !== null &&
      this.#running.child.exitCode === null &&
      this.#running.child.signalCode === null
    );
  }

  /** Whether the service follows a node instead of a folder of blocks. */
  get hasNode(): boolean {
    return this.#node !== null;
  }

  get logFile(): string {
    return join(this.#folder, 'service.log');
  }

  /**
   * Starts the process. If `hasNode` is true, the process follows a slow node with the blocks of its folder, which are
   * indexed already.
   */
  async start(hasNode = false): Promise<void> {
    const chain = join(this.#folder, 'chain');
    this.#node?.stop();
    this.#node = hasNode ? await SlowNode.start(chain) : null;
    const source = this.#node === null ? ['--blocks', chain] : ['--node', this.#node.url];
    const log = openSync(this.logFile, 'a');
    const child = spawn(
      process.execPath,
      [
        `--max-old-space-size=${heapMegabytes}`,
        '--expose-gc',
        '--cpu-prof',
        '--cpu-prof-dir=/tmp/prof31b',
        '--cpu-prof-interval=500',
        '--import',
        join(import.meta.dirname, 'probe.ts'),
        'src/main.ts',
        'serve',
        ...source,
        '--data',
        join(this.#folder, 'data'),
        '--port',
        '0',
      ],
      { cwd: root, env: { ...machineEnvironment(), ...settings }, stdio: ['ignore', 'pipe', log, 'ipc'] },
    );
    closeSync(log);
    this.#running = { child, port: await portOf(child, this.logFile) };
  }

  /** Makes keys that may search without a limit. Works only while the service runs. */
  makeKeys(count: number): Promise<string[]> {
    return makeKeys(join(this.#folder, 'data'), count);
  }

  /** Makes imports with many items and sales. Works only while the service runs. */
  makeMarket(): Promise<void> {
    return makeMarket(join(this.#folder, 'data'), this.targets, this.#sales);
  }

  /** Lets the service accept orders from now on. Works only while the service runs. */
  async takeOrders(): Promise<void> {
    this.#endOrders = await takeOrders(join(this.#folder, 'data'), this.#folder);
  }

  /** Collects garbage and forgets the delays of the event loop so far. */
  async collect(): Promise<void> {
    await this.#ask('collect');
  }

  /** A sample of the process. Null if the process does not answer in time. */
  async sample(): Promise<ProbeSample | null> {
    return (await this.#ask('sample')) as ProbeSample | null;
  }

  /** Kills the process. Postgres continues to run, and the next start uses it. */
  async kill(): Promise<void> {
    if (!this.isAlive) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  /** Ends everything and removes all files. */
  async remove(): Promise<void> {
    await this.#endOrders?.();
    if (this.#running !== null && !(await this.#stop())) {
      // Postgres continues to run after `kill`. Only a start and an orderly stop also stop Postgres
      await this.kill();
      await this.start();
      await this.#stop();
    }
    this.#node?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Stops the process in order. False if the process was dead, or if it takes too long. */
  async #stop(): Promise<boolean> {
    if (!this.isAlive) return false;
    const ended = once(this.#child, 'exit', { signal: AbortSignal.timeout(stopWaitMs) });
    this.#child.kill('SIGTERM');
    return ended.then(
      () => true,
      () => false,
    );
  }

  get #started(): { readonly child: ChildProcess; readonly port: number } {
    if (this.#running === null) throw new Error('the service was never started');
    return this.#running;
  }

  get #child(): ChildProcess {
    return this.#started.child;
  }

  async #ask(question: 'collect' | 'sample'): Promise<unknown> {
    if (!this.isAlive) return null;
    const answer = once(this.#child, 'message', { signal: AbortSignal.timeout(probeWaitMs) });
    this.#child.send(question);
    try {
      return ((await answer) as unknown[])[0];
    } catch {
      return null;
    }
  }
}

/** The port in the output line `ready http://…`. */
async function portOf(child: ChildProcess, logFile: string): Promise<number> {
  let said = '';
  const signal = AbortSignal.timeout(startWaitMs);
  child.stdout!.setEncoding('utf8');
  for await (const text of child.stdout!.iterator({ destroyOnReturn: false, signal } as object)) {
    said += String(text);
    const port = /^ready http:\S+:(\d+)/mu.exec(said)?.[1];
    if (port !== undefined) {
      child.stdout!.resume();
      return Number(port);
    }
  }
  throw new Error(`the service did not start, see ${logFile}`);
}
