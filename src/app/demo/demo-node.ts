import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { BatchRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { freePort } from '#kernel/process/free-port.ts';
import type { Lifecycle } from '#kernel/process/lifecycle.ts';
import { createCoreRpc } from '#node/core-rpc.ts';
import { Credentials } from '#node/credentials.ts';

/** A regtest node that is reachable only from this machine. */
export interface DemoNode {
  readonly rpcUrl: string;
  readonly cookieFile: string;
  readonly rpc: BatchRpc;
}

/** How long the node may take to start, in ms. It usually answers after a second; a busy machine takes longer. */
const startMs = 30_000;
const lookEveryMs = 100;
/** How long the node may take to stop, in ms. It writes its few blocks to disk within a second. */
const stopMs = 20_000;
const run = promisify(execFile);

/**
 * Starts a bitcoind in a folder, on free ports of this machine, and submits the blocks that it lacks. The node ends
 * with this process. Throws `node_unreachable` if it does not start.
 */
export async function startDemoNode(
  { lifecycle }: { readonly lifecycle: Lifecycle },
  {
    program,
    folder,
    blocks,
  }: { readonly program: string; readonly folder: string; readonly blocks: BlockSource },
): Promise<DemoNode> {
  const dir = resolve(folder);
  await mkdir(dir, { recursive: true });
  await endLeftOver(dir);
  const [rpcPort, zmqPort] = [await freePort(), await freePort()];
  const rpcUrl = `http://127.0.0.1:${rpcPort}`;
  const cookieFile = join(dir, 'regtest/.cookie');
  // in a process group of its own: Ctrl-C then ends only this process, which stops the node after the parts that need
  // it
  const child = spawn(program, flagsOf(dir, rpcPort, zmqPort), { stdio: 'ignore', detached: true });
  const atExit = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', atExit);
  lifecycle.add('the node of the demo', () => end(child, atExit), stopMs);
  const rpc = createCoreRpc(rpcUrl, new Credentials({ kind: 'cookie', file: cookieFile }));
  await answering(child, rpc, lifecycle.signal);
  await feed(rpc, blocks);
  return { rpcUrl, cookieFile, rpc };
}

const flagsOf = (dir: string, rpcPort: number, zmqPort: number): string[] => [
  '-regtest',
  `-datadir=${dir}`,
  '-server',
  '-rest',
  '-txindex',
  // no peers
  '-listen=0',
  '-dnsseed=0',
  '-fixedseeds=0',
  // accept an old tip, because the blocks are as old as the sample
  '-maxtipage=2000000000',
  '-printtoconsole=0',
  '-rpcbind=127.0.0.1',
  '-rpcallowip=127.0.0.1',
  `-rpcport=${rpcPort}`,
  `-zmqpubsequence=tcp://127.0.0.1:${zmqPort}`,
  `-zmqpubrawtx=tcp://127.0.0.1:${zmqPort}`,
];

async function end(child: ChildProcess, atExit: () => void): Promise<void> {
  process.off('exit', atExit);
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Stops the node that a killed demo left behind. That node still locks the folder. */
async function endLeftOver(dir: string): Promise<void> {
  const text = await readFile(join(dir, 'regtest/bitcoind.pid'), 'utf8').catch(() => '');
  const pid = Number(text.trim());
  if (!Number.isSafeInteger(pid) || pid <= 1 || !(await isNodeOf(pid, dir))) return;
  process.kill(pid, 'SIGTERM');
  const deadline = performance.now() + stopMs;
  while (performance.now() < deadline && (await isNodeOf(pid, dir))) await sleep(lookEveryMs);
}

/**
 * Whether the process with this number is the node of the folder. The check is needed because process numbers are
 * reused.
 */
async function isNodeOf(pid: number, dir: string): Promise<boolean> {
  const { stdout } = await run('ps', ['-o', 'args=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.includes(`-datadir=${dir}`);
}

async function answering(child: ChildProcess, rpc: BatchRpc, signal: AbortSignal): Promise<void> {
  let failure: Error | null = null;
  child.once('error', (error) => {
    failure = error;
  });
  const deadline = performance.now() + startMs;
  for (;;) {
    const isUp = await rpc.call('getblockchaininfo').then(
      () => true,
      () => false,
    );
    if (isUp) return;
    if (failure !== null || child.exitCode !== null || performance.now() > deadline)
      throw new AppError('node_unreachable', 'Bitcoin Core did not start for the demo.', {}, failure);
    await sleep(lookEveryMs, undefined, { signal });
  }
}

/** Submits all blocks above the node's height. */
async function feed(rpc: BatchRpc, blocks: BlockSource): Promise<void> {
  const height = await rpc.call<number>('getblockcount');
  for (const ref of await blocks.refs()) {
    if (ref.height <= height) continue;
    const { bytes } = await blocks.read(ref);
    const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
    const refusal = await rpc.call<string | null>('submitblock', [hex]);
    if (refusal !== null)
      throw new AppError('node_call_failed', `The node of the demo refuses block ${ref.height}: ${refusal}.`);
  }
}
