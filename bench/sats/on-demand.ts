import { strict as assert } from 'node:assert';
import { performance } from 'node:perf_hooks';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';
import { SatTracer } from '#sat-ranges/sat-tracer.ts';
import { type Coin, coinbaseMaturity, openScript, ValidBlocks } from '#test/builders/valid-blocks.ts';
import { startBitcoind } from '#test/support/node/bitcoind.ts';
import { submitBlock } from '#test/support/node/regtest-feed.ts';
import type { Figure } from '../report.ts';
import { median, percentile } from '../statistics.ts';

/** Number of coins whose sats are traced. No two coins have the same past. */
const coins = 40;
const script = openScript(new Uint8Array(32).fill(7));
const witness = [new Uint8Array(64)];
const fee = 1000;
const change = 600;

/** Makes coins that move once in each of several blocks. The node has no index of transactions. */
async function movedCoins(depth: number, submit: (bytes: Uint8Array) => Promise<void>): Promise<Coin[]> {
  const blocks = new ValidBlocks();
  const mined: Coin[] = [];
  const mine = async (): Promise<void> => {
    const { bytes, coinbase } = blocks.mine({ coinbaseScript: script });
    mined.push(coinbase);
    await submit(bytes);
  };
  for (let height = 0; height < coins + coinbaseMaturity; height++) await mine();
  let moved = mined.slice(0, coins);
  for (let step = 0; step < depth; step++) {
    moved = moved.map((coin) => {
      const outputs = [
        { value: coin.value - fee - change, script },
        { value: change, script },
      ];
      return blocks.spend([{ coin, witness }], outputs)[0]!;
    });
    await mine();
  }
  return moved;
}

/**
 * Measures how long it takes to trace the sats of an output that moved this many times. Nothing is in memory from
 * earlier traces.
 */
export async function onDemand(executable: string, depth: number): Promise<Figure[]> {
  const bitcoind = await startBitcoind({ executable, txindex: false, zmq: [] });
  try {
    const moved = await movedCoins(depth, (bytes) => submitBlock(bitcoind.rpc, bytes));
    const node = await connectNode(bitcoind.settings);
    const source = openNodeSource(node);
    const times: number[] = [];
    for (const { txid, vout } of moved) {
      const tracer = new SatTracer(new NodeTraceSource(node.rpc, source));
      const started = performance.now();
      const traced = await tracer.trace({ txid: displayHash(asTxid(txid)), vout });
      times.push(performance.now() - started);
      assert(traced?.state === 'known' && traced.steps >= depth, 'every step back was made');
    }
    await source.close();
    // the first trace is not counted, because it warms up the node
    const warm = times.slice(1);
    return [
      { name: 'onDemandP95Ms', value: percentile(warm, 0.95), unit: 'ms', target: { most: 2000 } },
      { name: 'onDemandMedianMs', value: median(warm), unit: 'ms' },
    ];
  } finally {
    await bitcoind.remove();
  }
}
