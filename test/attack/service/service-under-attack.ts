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
/** The heap of a process on a small server. */
const heapMegabytes = 1024;
/** A process whose event loop stands still answers late, or never. */
const probeWaitMs = 20_000;
const startWaitMs = 120_000;
const stopWaitMs = 30_000;

/**
 * Settings as on the internet, except that no proxy is in between: programs search with a key or the claim to be our
 * page, and the limits by address are the defaults. With all features: the index of addresses too.
 */
const settings = {
  SEARCH_ACCESS: 'restricted',
  LOG_LEVEL: 'warn',
  INDEX_ADDRESSES: 'true',
  // an attacker's servers of files are on this machine
  ALLOW_PRIVATE_URLS: 'true',
} as const;

/** `satscribe serve` in its own process with its own Postgres, over a chain made to hurt. */
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

  /** Makes the chain. Nothing runs yet: the first start indexes it. */
  static prepare(size: ChainSize): ServiceUnderAttack {
    const folder = mkdtempSync(join(databaseFolder(), 'satscribe-attack-'));
    // as root the database runs as an ordinary account, which must be able to reach the folder
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

  /** False once the process has ended, by itself or by `kill`. */
  get isAlive(): boolean {
    return (
      this.#running !== null &&
      this.#running.child.exitCode === null &&
      this.#running.child.signalCode === null
    );
  }

  /** Whether it follows a node, and not a folder of blocks. */
  get hasNode(): boolean {
    return this.#node !== null;
  }

  get logFile(): string {
    return join(this.#folder, 'service.log');
  }

  /** `hasNode`: it follows a slow node with the blocks of its folder, which were indexed before. */
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

  /** Keys that may search, as often as they like. Only while the service runs. */
  makeKeys(count: number): Promise<string[]> {
    return makeKeys(join(this.#folder, 'data'), count);
  }

  /** Imports with many items and sales. Only while the service runs. */
  makeMarket(): Promise<void> {
    return makeMarket(join(this.#folder, 'data'), this.targets, this.#sales);
  }

  /** Orders are taken from now on. Only while the service runs. */
  async takeOrders(): Promise<void> {
    this.#endOrders = await takeOrders(join(this.#folder, 'data'), this.#folder);
  }

  /** Collects garbage and forgets the delays of the event loop so far. */
  async collect(): Promise<void> {
    await this.#ask('collect');
  }

  /** Null where the process does not answer in time. */
  async sample(): Promise<ProbeSample | null> {
    return (await this.#ask('sample')) as ProbeSample | null;
  }

  /** Ends the process at once; Postgres runs on, and the next start takes it over. */
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
      // Postgres runs on without it: only a start and an end in order stop that too
      await this.kill();
      await this.start();
      await this.#stop();
    }
    this.#node?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Ends the process in order. False where it was dead, or takes too long. */
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

/** The port of the line `ready http://…`. */
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
