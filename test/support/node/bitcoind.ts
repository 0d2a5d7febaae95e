import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeRpc, ZmqTopic } from '#kernel/contracts/node.ts';
import { createCoreRpc } from '#node/core-rpc.ts';
import { Credentials } from '#node/credentials.ts';
import type { NodeAuth, NodeSettings } from '#node/node-settings.ts';

export interface BitcoindOptions {
  /** Default: true. */
  readonly rest?: boolean;
  /** Topics that are published, all on one port. Default: all three. */
  readonly zmq?: readonly ZmqTopic[];
  /** Default: true, false with `prune`. */
  readonly txindex?: boolean;
  /** Pruned by the call `pruneblockchain`, with block files small enough for it. */
  readonly prune?: boolean;
  /** In place of the cookie. */
  readonly password?: { readonly user: string; readonly password: string };
  readonly extra?: readonly string[];
}

/** A real regtest node of its own folder and ports. */
export interface Bitcoind {
  readonly rpcUrl: string;
  readonly cookieFile: string;
  readonly auth: NodeAuth;
  /** What connectNode takes. */
  readonly settings: NodeSettings;
  /** The one ZMQ address of all topics. */
  readonly zmq: string;
  readonly dataDir: string;
  readonly rpc: NodeRpc;
  /** Ends it in order and waits for that; its folder and ports stay for `start`. */
  stop(): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again. Settles when it answers. */
  start(): Promise<void>;
  /** With a new cookie. */
  restart(): Promise<void>;
  /** Ends it, and removes its folder. */
  remove(): Promise<void>;
}

const topicsOfAll: readonly ZmqTopic[] = ['sequence', 'rawtx', 'hashblock'];
const startTimeoutMs = 60_000;

/**
 * The bitcoind for a suite, or null where the machine has none: said in one line, and a failure with CI=true, so that the
 * tests of the node are never left out unseen.
 */
export function bitcoindForTests(): string | null {
  const executable = findBitcoind();
  if (executable !== null) return executable;
  const words = 'bitcoind is missing: the tests of the node are skipped (scripts/install-bitcoind.sh)';
  if (process.env['CI'] === 'true') throw new Error(words);
  process.stderr.write(`${words}\n`);
  return null;
}

function findBitcoind(): string | null {
  const given = process.env['BITCOIND'];
  if (given !== undefined && given !== '') return given;
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), join(cache, 'satscribe/bitcoind/bin')];
  return folders.map((folder) => join(folder, 'bitcoind')).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Starts one. Whatever a test does, it ends with the process of the test. */
export async function startBitcoind(options: BitcoindOptions = {}): Promise<Bitcoind> {
  const executable = findBitcoind();
  if (executable === null) throw new Error('bitcoind is missing: scripts/install-bitcoind.sh');
  const dataDir = await mkdtemp(join(tmpdir(), 'satscribe-bitcoind-'));
  const [rpcPort, zmqPort] = await freePorts();
  const node = new RunningBitcoind(executable, dataDir, rpcPort, zmqPort, options);
  await node.start();
  return node;
}

/** Two ports that nobody listens on now. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return [ports[0]!, ports[1]!];
}

class RunningBitcoind implements Bitcoind {
  readonly rpcUrl: string;
  readonly cookieFile: string;
  readonly auth: NodeAuth;
  readonly settings: NodeSettings;
  readonly zmq: string;
  readonly dataDir: string;
  readonly rpc: NodeRpc;
  private readonly executable: string;
  private readonly flags: readonly string[];
  private child: ChildProcess | null = null;
  private output = '';
  private readonly atExit = (): void => {
    this.child?.kill('SIGKILL');
    rmSync(this.dataDir, { recursive: true, force: true });
  };

  constructor(
    executable: string,
    dataDir: string,
    rpcPort: number,
    zmqPort: number,
    options: BitcoindOptions,
  ) {
    this.executable = executable;
    this.dataDir = dataDir;
    this.rpcUrl = `http://127.0.0.1:${rpcPort}`;
    this.zmq = `tcp://127.0.0.1:${zmqPort}`;
    this.cookieFile = join(dataDir, 'regtest/.cookie');
    this.auth =
      options.password === undefined
        ? { kind: 'cookie', file: this.cookieFile }
        : { kind: 'password', ...options.password };
    this.settings = { rpcUrl: this.rpcUrl, auth: this.auth };
    this.flags = flagsOf(executable, options, dataDir, rpcPort, this.zmq);
    this.rpc = createCoreRpc(this.rpcUrl, new Credentials(this.auth));
    process.once('exit', this.atExit);
  }

  async start(): Promise<void> {
    if (this.child !== null) throw new Error('this bitcoind runs already');
    this.output = '';
    const child = spawn(this.executable, this.flags, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    child.once('exit', () => {
      if (this.child === child) this.child = null;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.output = (this.output + chunk.toString()).slice(-4000);
      });
    }
    const deadline = Date.now() + startTimeoutMs;
    while (true) {
      if (this.child !== child) throw new Error(`bitcoind ended: ${this.output}`);
      try {
        await this.rpc.call('getblockchaininfo', [], { timeoutMs: 5000 });
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await delay(50);
      }
    }
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async remove(): Promise<void> {
    await this.kill();
    process.off('exit', this.atExit);
    await rm(this.dataDir, { recursive: true, force: true });
  }

  private async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    await ended;
  }
}

const isKnots = (executable: string): boolean =>
  spawnSync(executable, ['--version']).stdout.toString().includes('Knots');

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
    // Knots' own policy keeps inscriptions out of the mempool; Core does not know the flag
    ...(isKnots(executable) ? ['-corepolicy=1'] : []),
    '-acceptnonstdtxn=1',
    '-fallbackfee=0.0001',
    '-listen=0',
    '-dnsseed=0',
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
