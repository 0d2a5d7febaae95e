import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { mainnetShapeVersion } from '#test/builders/mainnet-shape.ts';
import { type MainnetShapedOptions, mainnetShapedBlocks } from '#test/builders/mainnet-shaped.ts';
import { startBitcoind } from '#test/support/node/bitcoind.ts';
import { submitBlock } from '#test/support/node/regtest-feed.ts';
import { benchData, parametersName } from '../index/generated-chain.ts';

/** The chain that a node was fed, as recorded in a file beside the node's data. */
export interface FedChain {
  readonly height: number;
  readonly blocks: number;
  readonly bytes: number;
  readonly generateSeconds: number;
  readonly feedSeconds: number;
}

/** Returns the folder of a node with the chain. Makes the folder on first use, and keeps it for later runs. */
export async function fedNode(
  bitcoind: string,
  options: MainnetShapedOptions,
): Promise<{ dataDir: string; chain: FedChain }> {
  const dataDir = join(benchData, `node-${parametersName({ shape: mainnetShapeVersion, ...options })}`);
  const file = join(dataDir, 'fed.json');
  if (!existsSync(file)) {
    rmSync(dataDir, { recursive: true, force: true });
    writeFileSync(file, JSON.stringify(await feed(bitcoind, dataDir, options)));
  }
  return { dataDir, chain: JSON.parse(readFileSync(file, 'utf8')) as FedChain };
}

async function feed(bitcoind: string, dataDir: string, options: MainnetShapedOptions): Promise<FedChain> {
  const node = await startBitcoind({ executable: bitcoind, dataDir, extra: ['-dbcache=1000'] });
  try {
    const start = performance.now();
    let feedMs = 0;
    let [height, blocks, bytes] = [0, 0, 0];
    for (const block of mainnetShapedBlocks(options)) {
      const before = performance.now();
      await submitBlock(node.rpc, block.bytes);
      feedMs += performance.now() - before;
      height = block.height;
      blocks++;
      bytes += block.bytes.length;
    }
    const generateSeconds = (performance.now() - start - feedMs) / 1000;
    return { height, blocks, bytes, generateSeconds, feedSeconds: feedMs / 1000 };
  } finally {
    await node.stop();
  }
}
