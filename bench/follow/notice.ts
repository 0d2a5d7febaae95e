import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { displayHash } from '#kernel/primitives/hash.ts';
import { MainnetShapedChain, type RevealBlocks } from '#test/builders/mainnet-shaped.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { submitBlock } from '#test/support/node/regtest-feed.ts';
import { benchData } from '../index/generated-chain.ts';
import { percentile } from '../statistics.ts';
import { Announcements, now } from './announcements.ts';
import { get, indexedHeight, totalItems } from './http-client.ts';
import { nodeSettings, SatscribeProcess } from './satscribe-process.ts';
import type { Section } from './section.ts';

const revealsPerBlock = 5000;
const historyBlocks = 8;
/** Number of blocks after which the code is compiled. */
const warmUpBlocks = 2;
/** Interval between two reads of one client that waits for a block, in ms. It is a small part of the measured times. */
const lookEveryMs = 4;
const readableWithinMs = 60_000;
/**
 * Pause after each block, in ms. Background work for the block (sealing, vacuum) ends meanwhile, as at the tip of
 * mainnet.
 */
const pauseMs = 1500;

export async function until(question: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + readableWithinMs;
  while (!(await question())) {
    if (performance.now() > end) throw new Error('a block was not readable within a minute');
    await delay(lookEveryMs);
  }
}

const needleOf = (block: number, index: number): string => `needle-${block}-${index}-end`;

/**
 * Reads that must show a block before it counts as readable: its last and its first inscription by id, by hash and by
 * text. The first of them is cheap, so it can be repeated until it succeeds.
 */
function questions(
  origin: string,
  block: number,
  reveals: RevealBlocks['reveals'],
): (() => Promise<boolean>)[] {
  return [reveals.length - 1, 0].flatMap((index) => {
    const { txid, body } = reveals[index] as RevealBlocks['reveals'][number];
    const sha256 = hash('sha256', body);
    const needle = encodeURIComponent(needleOf(block, index));
    return [
      async () => (await get(origin, `/inscription/${displayHash(txid)}i0`)).status === 200,
      async () => (await totalItems(origin, `/search?hash=${sha256}`)) === 1,
      async () => (await totalItems(origin, `/search?text=${needle}&phrase=1`)) === 1,
    ];
  });
}

export interface NoticeTask {
  readonly node: Bitcoind;
  /** URL of the API. */
  readonly origin: string;
  readonly chain: MainnetShapedChain;
  readonly blocks: number;
  /** Number of the first block in its texts. No two blocks of a chain may have the same number. */
  readonly first?: number;
  /** Script of an additional output in each reveal. Default: no such output. */
  readonly message?: Uint8Array;
}

/** Time from the node's announcement of each block until reads over HTTP show the block, in ms. */
export async function noticeTimes({
  node,
  origin,
  chain,
  blocks,
  first = 0,
  message,
}: NoticeTask): Promise<number[]> {
  const announcements = await Announcements.of(node.zmq);
  const timesMs: number[] = [];
  for (let block = -warmUpBlocks; block < blocks; block++) {
    const number = first + warmUpBlocks + block;
    const made = chain.revealBlocks(revealsPerBlock, (index) => needleOf(number, index), message);
    await submitBlock(node.rpc, made.funding.bytes);
    await until(async () => (await indexedHeight(origin)) >= made.funding.height);
    await delay(pauseMs);
    const submitted = submitBlock(node.rpc, made.block.bytes);
    const announced = await announcements.of(made.block.hash);
    // one client reads again and again: several would take the processor's time from the service
    const [cheap, ...others] = questions(origin, number, made.reveals);
    if (cheap !== undefined) await until(cheap);
    await Promise.all(others.map((question) => until(question)));
    if (block >= 0) timesMs.push(now() - announced);
    await submitted;
  }
  await announcements.close();
  return timesMs;
}

/** Measures the time from the node's announcement of a block until all of the block is readable over HTTP. */
export async function noticeSection(bitcoind: string, seed: string, blocks: number): Promise<Section> {
  const dataDir = join(benchData, 'notice');
  rmSync(dataDir, { recursive: true, force: true });
  const node = await startBitcoind({ executable: bitcoind, dataDir: join(dataDir, 'node') });
  try {
    const chain = new MainnetShapedChain(seed);
    for (const block of chain.beginning()) await submitBlock(node.rpc, block.bytes);
    let last = 0;
    for (let count = 0; count < historyBlocks; count++) {
      const block = chain.full();
      last = block.height;
      await submitBlock(node.rpc, block.bytes);
    }
    const satscribe = await SatscribeProcess.start(['serve', '--port', '0'], join(dataDir, 'satscribe'), {
      ...nodeSettings(node),
      LOG_LEVEL: 'info',
    });
    try {
      const origin = await satscribe.ready();
      await until(async () => (await indexedHeight(origin)) >= last);
      await delay(pauseMs);
      const timesMs = await noticeTimes({ node, origin, chain, blocks });
      const bound = { target: { most: 250 } };
      return {
        notes: [
          `notice: ${blocks} blocks of ${revealsPerBlock} reveals with distinct bodies on ${historyBlocks} full ones and ${warmUpBlocks} to warm up, \`satscribe serve\` with its embedded Postgres beside the node; from the node's ZMQ message hashblock, received by a thread of its own, until one client that asks every ${lookEveryMs} ms gets the last inscription over HTTP, and then the first, and both by hash and by text`,
        ],
        figures: [
          { name: 'noticeToReadableP50Ms', value: percentile(timesMs, 0.5), unit: 'ms' },
          { name: 'noticeToReadableP95Ms', value: percentile(timesMs, 0.95), unit: 'ms', ...bound },
        ],
        details: [
          { name: 'notice to readable, fastest', value: Math.min(...timesMs), unit: 'ms' },
          { name: 'notice to readable, slowest', value: Math.max(...timesMs), unit: 'ms' },
        ],
      };
    } finally {
      await satscribe.stop();
    }
  } finally {
    await node.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
