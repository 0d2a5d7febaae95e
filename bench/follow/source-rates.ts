import { performance } from 'node:perf_hooks';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import type { SourceBlock } from '#kernel/contracts/block-source.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { startBitcoind } from '#test/support/node/bitcoind.ts';

/** Number of blocks that the follower reads ahead with two parsers. */
const readAhead = 5;

export interface SourceRateTask {
  readonly bitcoind: string;
  readonly dataDir: string;
  /** Whether to use the node's REST interface. Otherwise blocks and spent outputs come by RPC. */
  readonly rest: boolean;
  /** Maximum number of bytes. Blocks are read from the tip down. */
  readonly mostBytes: number;
  readonly rounds: number;
}

/** Returns one value for each round. Blocks are read ahead in order, and then dropped. */
export async function sourceRates(task: SourceRateTask): Promise<number[]> {
  const { bitcoind, dataDir, rest, rounds } = task;
  const node = await startBitcoind({ executable: bitcoind, dataDir, rest });
  try {
    const connected = await connectNode(node.settings);
    if (connected.facts.hasRest !== rest) throw new Error('the node does not offer the measured interface');
    const source = openNodeSource(connected);
    const rates: number[] = [];
    for (let round = 0; round < rounds; round++) rates.push(await rate(source, task.mostBytes));
    await source.close();
    return rates;
  } finally {
    await node.stop();
  }
}

async function rate(source: ReturnType<typeof openNodeSource>, mostBytes: number): Promise<number> {
  const buffers = createBufferPool();
  const refs = [...(await source.refs())].reverse();
  const underWay: Promise<SourceBlock>[] = [];
  const start = performance.now();
  let bytes = 0;
  for (let next = 0; bytes < mostBytes; ) {
    for (; underWay.length < readAhead && next < refs.length; next++) {
      underWay.push(source.read(refs[next] as (typeof refs)[number], undefined, buffers));
    }
    const block = await underWay.shift();
    if (block === undefined) break;
    bytes += block.bytes.length;
    buffers.give(block.bytes.buffer);
    if (block.spentOutputs !== null) buffers.give(block.spentOutputs.buffer);
  }
  const ms = performance.now() - start;
  await Promise.all(underWay);
  return bytes / 1000 / ms;
}
