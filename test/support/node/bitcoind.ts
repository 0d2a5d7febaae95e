import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BatchRpc, ZmqTopic } from '#kernel/contracts/node.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { createCoreRpc } from '#node/core-rpc.ts';
import { Credentials } from '#node/credentials.ts';
import type { NodeAuth, NodeSettings } from '#node/node-settings.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { findBitcoind, isKnots } from './find-bitcoind.ts';

export interface BitcoindOptions {
  /** Default: the result of `findBitcoind`. */
  readonly executable?: string;
  /** The node's folder, which is kept when the node is removed. Default: a temporary folder, which is removed too. */
  readonly dataDir?: string;
  /** Default: true. */
  readonly rest?: boolean;
  /** Published topics, all on one port. Default: all three. */
  readonly zmq?: readonly ZmqTopic[];
  /** Default: `false` with `prune`, else `true`. */
  readonly txindex?: boolean;
  /** Lets the call `pruneblockchain` prune the node, with block files that are small enough for it. */
  readonly prune?: boolean;
  /** Replaces the cookie. */
  readonly password?: { readonly user: string; readonly password: string };
  readonly extra?: readonly string[];
}

/** A real regtest node with its own folder and ports. It has no peers and the default policy. */
export interface Bitcoind {
  readonly rpcUrl: string;
  readonly rpcPort: number;
  readonly cookieFile: string;
  readonly auth: NodeAuth;
  /** The options for `connectNode`. */
  readonly settings: NodeSettings;
  /** The ZMQ address of all topics. */
  readonly zmq: string;
  readonly zmqPort: number;
  readonly dataDir: string;
  readonly rpc: BatchRpc;
  /** Stops the node in order, and waits for its end. Folder and ports stay for `start`. */
  stop(): Promise<void>;
  /** Sends SIGKILL, so unwritten data is lost. */
  kill(): Promise<void>;
  /** Starts the node again. Settles when it answers. */
  start(): Promise<void>;
  /** Stops and starts the node. Its cookie changes. */
  restart(): Promise<void>;
  /** Stops the node, and removes its folder. */
  remove(): Promise<void>;
}

const topicsOfAll: readonly ZmqTopic[] = ['sequence', 'rawtx', 'hashblock'];
const startTimeoutMs = 60_000;

/** Starts a node. The node always ends with the test's process. */
export async function startBitcoind(options: BitcoindOptions = {}): Promise<Bitcoind> {
  const executable = options.executable ?? findBitcoind();
  if (executable === null) throw new Error('bitcoind is missing: scripts/install-bitcoind.sh');
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'satscribe-bitcoind-')));
  await mkdir(dataDir, { recursive: true });
  const node = new RunningBitcoind(executable, dataDir, await freePort(), await freePort(), options);
  await node.start();
  return node;
}

class RunningBitcoind implements Bitcoind {
  readonly rpcUrl: string;
  readonly rpcPort: number;
  readonly cookieFile: string;
  readonly auth: NodeAuth;
  readonly settings: NodeSettings;
  readonly zmq: string;
  readonly zmqPort: number;
  readonly dataDir: string;
  readonly rpc: BatchRpc;
  readonly #executable: string;
  readonly #flags: readonly string[];
  readonly #isTemporary: boolean;
  #child: ChildProcess | null = null;
  #output = '';
  readonly #atExit = (): void => {
    this.#child?.kill('SIGKILL');
    if (this.#isTemporary) rmSync(this.dataDir, { recursive: true, force: true });
  };

  constructor(
    executable: string,
    dataDir: string,
    rpcPort: number,
    zmqPort: number,
    options: BitcoindOptions,
  ) {
    this.#executable = executable;
    this.#isTemporary = options.dataDir === undefined;
    this.dataDir = dataDir;
    this.rpcPort = rpcPort;
    this.rpcUrl = `http://127.0.0.1:${rpcPort}`;
    this.zmqPort = zmqPort;
    this.zmq = `tcp://127.0.0.1:${zmqPort}`;
    this.cookieFile = join(dataDir, 'regtest/.cookie');
    this.auth =
      options.password === undefined
        ? { kind: 'cookie', file: this.cookieFile }
        : { kind: 'password', ...options.password };
    this.settings = { rpcUrl: this.rpcUrl, auth: this.auth };
    this.#flags = flagsOf(executable, options, dataDir, rpcPort, this.zmq);
    this.rpc = createCoreRpc(this.rpcUrl, new Credentials(this.auth));
    process.once('exit', this.#atExit);
  }

  async start(): Promise<void> {
    if (this.#child !== null) throw new Error('this bitcoind runs already');
    this.#output = '';
    const child = spawn(this.#executable, this.#flags, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    child.once('exit', () => {
      if (this.#child === child) this.#child = null;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-4000);
      });
    }
    await waitUntil(
      async () => {
        if (this.#child !== child) return true;
        await this.rpc.call('getblockchaininfo', [], { timeoutMs: 5000 });
        return true;
      },
      { limitMs: startTimeoutMs },
    );
    if (this.#child !== child) throw new Error(`bitcoind ended: ${this.#output}`);
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async remove(): Promise<void> {
    await this.kill();
    process.off('exit', this.#atExit);
    if (this.#isTemporary) await rm(this.dataDir, { recursive: true, force: true });
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    await ended;
  }
}

function flagsOf(
  executable: string,
  options: BitcoindOptions,
  dataDir: string,
  rpcPort: number,
  zmq: string,
): string[] {
  const { rest = true, zmq: topics = topicsOfAll, prune = false, password, extra = [] } = options;
  const { txindex = !prune } = options;
  return [
    '-regtest',
    `-datadir=${dataDir}`,
    '-server',
    `-rest=${rest ? 1 : 0}`,
    `-txindex=${txindex ? 1 : 0}`,
    // makes Knots as similar to Core as possible; Core does not know this option
    ...(isKnots(executable) ? ['-corepolicy=1'] : []),
    '-listen=0',
    '-dnsseed=0',
    '-fixedseeds=0',
    // block times depend on the seed, so they may be old
    '-maxtipage=2000000000',
    '-par=2',
    '-printtoconsole=0',
    '-rpcbind=127.0.0.1',
    '-rpcallowip=127.0.0.1',
    `-rpcport=${rpcPort}`,
    ...topics.map((topic) => `-zmqpub${topic}=${zmq}`),
    ...(prune ? ['-prune=1', '-fastprune'] : []),
    ...(password === undefined ? [] : [`-rpcuser=${password.user}`, `-rpcpassword=${password.password}`]),
    ...extra,
  ];
}
