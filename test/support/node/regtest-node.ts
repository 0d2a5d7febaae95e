import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callNode, type NodeAccess } from './block-feed.ts';

const user = 'satscribe';
const password = 'satscribe';
const startTimeoutMs = 60_000;
const askEveryMs = 50;

/** A port that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = address !== null && typeof address === 'object' ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

export interface RegtestNodeOptions {
  readonly bitcoind: string;
  /** Kept between starts: the chain is in it. */
  readonly dataDir: string;
  readonly parameters?: readonly string[];
}

/** A real bitcoind in regtest, with REST and ZMQ, that is alone: no peers. It keeps its ports over restarts. */
export class RegtestNode {
  readonly dataDir: string;
  readonly rpcPort: number;
  readonly zmqPort: number;
  private readonly options: RegtestNodeOptions;
  private readonly isKnots: boolean;
  private child: ChildProcess | null = null;

  private constructor(options: RegtestNodeOptions, rpcPort: number, zmqPort: number) {
    this.options = options;
    this.dataDir = options.dataDir;
    this.rpcPort = rpcPort;
    this.zmqPort = zmqPort;
    this.isKnots = execFileSync(options.bitcoind, ['--version']).includes('Knots');
  }

  static async start(options: RegtestNodeOptions): Promise<RegtestNode> {
    mkdirSync(options.dataDir, { recursive: true });
    const node = new RegtestNode(options, await freePort(), await freePort());
    await node.start();
    return node;
  }

  get access(): NodeAccess {
    return { url: `http://127.0.0.1:${this.rpcPort}`, user, password };
  }

  get zmqUrl(): string {
    return `tcp://127.0.0.1:${this.zmqPort}`;
  }

  call<Result>(method: string, ...params: unknown[]): Promise<Result> {
    return callNode<Result>(this.access, method, params);
  }

  /** Settles when it answers calls. */
  async start(): Promise<void> {
    const log = openSync(join(this.dataDir, 'output.log'), 'a');
    const zmq = ['hashblock', 'sequence', 'rawtx'].map((topic) => `-zmqpub${topic}=${this.zmqUrl}`);
    const child = spawn(
      this.options.bitcoind,
      [
        '-regtest',
        `-datadir=${this.dataDir}`,
        '-server',
        '-rest',
        '-txindex=1',
        '-listen=0',
        '-dnsseed=0',
        '-fixedseeds=0',
        // what is not standard is taken into the mempool too, as far as consensus' own script rules allow
        '-acceptnonstdtxn=1',
        // Knots' own policy keeps inscriptions out; Core passes over what it does not know only in bitcoin.conf
        ...(this.isKnots ? ['-corepolicy=1'] : []),
        '-fallbackfee=0.0001',
        // generated blocks are as old as their seed wants
        '-maxtipage=2000000000',
        '-par=2',
        '-rpcthreads=8',
        `-rpcport=${this.rpcPort}`,
        `-rpcuser=${user}`,
        `-rpcpassword=${password}`,
        ...zmq,
        ...(this.options.parameters ?? []),
      ],
      { stdio: ['ignore', log, log] },
    );
    this.child = child;
    const until = Date.now() + startTimeoutMs;
    for (;;) {
      try {
        await this.call('getblockcount');
        return;
      } catch (error) {
        if (child.exitCode !== null || Date.now() > until) {
          throw new Error(`bitcoind did not start, see ${this.dataDir}/output.log`, { cause: error });
        }
        await delay(askEveryMs);
      }
    }
  }

  /** Ends it as an operator would. */
  async stop(): Promise<void> {
    await this.end('SIGTERM');
  }

  /** Ends it in the middle of what it does: what it did not write is lost. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === null) return;
    this.child = null;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    child.kill(signal);
    await ended;
  }
}
