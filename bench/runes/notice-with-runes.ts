import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RuneId } from '#kernel/runes/rune-id.ts';
import { plainEtching, type Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import { MainnetShapedChain } from '#test/builders/mainnet-shaped.ts';
import { startBitcoind } from '#test/support/node/bitcoind.ts';
import { submitBlock } from '#test/support/node/regtest-feed.ts';
import { indexedHeight } from '../follow/http-client.ts';
import { noticeTimes, until } from '../follow/notice.ts';
import { nodeSettings, SatscribeProcess } from '../follow/satscribe-process.ts';
import { benchData } from '../index/generated-chain.ts';
import type { Report } from '../report.ts';
import { median } from '../statistics.ts';

/** Number of blocks that one process measures before the other process has its turn. */
const blocksInTurn = 4;
const dataDir = join(benchData, 'notice-with-runes');

const nothing: Omit<Runestone, 'etching' | 'mint'> = {
  kind: 'runestone',
  edicts: [],
  pointer: null,
};

/** Etches a rune without a name. Anyone may mint it. */
const etching = encipher({
  ...nothing,
  mint: null,
  etching: {
    ...plainEtching,
    terms: {
      amount: smallU128(1000),
      cap: smallU128(1_000_000),
      heightStart: null,
      heightEnd: null,
      offsetStart: null,
      offsetEnd: null,
    },
  },
});

const mintOf = (id: RuneId): Uint8Array => encipher({ ...nothing, etching: null, mint: id });

/**
 * Measures the time from the node's announcement of a block until reads over HTTP show it, with runes and without. The
 * block's reveals mint runes. Two databases take turns with the same node, so that other load affects both.
 */
export async function noticeWithRunes(
  executable: string,
  seed: string,
  rounds: number,
): Promise<Omit<Report, 'bench'>> {
  rmSync(dataDir, { recursive: true, force: true });
  const node = await startBitcoind({ executable, dataDir: join(dataDir, 'node') });
  try {
    const chain = new MainnetShapedChain(seed);
    for (const block of chain.beginning()) await submitBlock(node.rpc, block.bytes);
    const etched = chain.revealBlocks(1, () => 'etching', etching);
    for (const { bytes } of [etched.funding, etched.block]) await submitBlock(node.rpc, bytes);
    let { height } = etched.block;
    const message = mintOf({ block: smallU128(height), tx: 1 });
    const times: Record<'on' | 'off', number[]> = { on: [], off: [] };
    let first = 0;
    for (let round = 0; round < rounds; round++)
      for (const runes of ['off', 'on'] as const) {
        const satscribe = await SatscribeProcess.start(['serve', '--port', '0'], join(dataDir, runes), {
          ...nodeSettings(node),
          INDEX_RUNES: String(runes === 'on'),
        });
        try {
          const origin = await satscribe.ready();
          await until(async () => (await indexedHeight(origin)) >= height);
          const task = { node, origin, chain, blocks: blocksInTurn, first, message };
          times[runes].push(...(await noticeTimes(task)));
          height = await indexedHeight(origin);
          first = height;
        } finally {
          await satscribe.stop();
        }
      }
    const [on, off] = [median(times.on), median(times.off)];
    return {
      notes: [
        'notice: blocks of 5,000 reveals that mint a rune each, on `satscribe serve` with runes and without in turns, each with a database of its own beside one node; from the announcement to a read over HTTP that shows the block, medians',
      ],
      figures: [{ name: 'noticeOverWithoutRunes', value: on / off, unit: 'x', target: { most: 1.1 } }],
      details: [
        { name: 'notice to readable, without runes', value: off, unit: 'ms' },
        { name: 'notice to readable, with runes', value: on, unit: 'ms' },
      ],
    };
  } finally {
    await node.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
