import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { mainnetShapedTexts } from '../generate/mainnet-shaped.ts';
import { type Random, seededRandom } from '../generate/random.ts';
import { benchData } from '../index/generated-chain.ts';
import type { Figure } from '../report.ts';
import { median, percentile } from '../statistics.ts';
import { type FedChain, fedNode } from './fed-node.ts';
import { indexedHeight, totalItems } from './http-client.ts';
import { RegtestNode } from './regtest-node.ts';
import { nodeSettings, SatscribeProcess } from './satscribe-process.ts';
import type { Section } from './section.ts';
import { sourceRates } from './source-rates.ts';

export interface SyncTask {
  readonly bitcoind: string;
  readonly seed: string;
  readonly leastBytes: number;
  readonly rounds: number;
  /** Path of an ord, or null. */
  readonly ord: string | null;
}

/** By RPC the same takes many times as long: a part of the chain says it as well. */
const rpcBytesMax = 60e6;
const drawnTexts = 5000;
const leastIdleQuestions = 500;
/** A client that thinks for so long between two searches. */
const betweenQuestionsMs = 10;
/** Until sealing and vacuum behind a first sync are over. */
const settleMs = 10_000;

/** Seconds of a process from its start to its end. */
async function secondsOf(start: () => Promise<{ success(): Promise<void> }>): Promise<number> {
  const from = performance.now();
  await (await start()).success();
  return (performance.now() - from) / 1000;
}

function firstSync(node: RegtestNode, chain: FedChain): Promise<number> {
  const dataDir = join(benchData, 'first-sync');
  rmSync(dataDir, { recursive: true, force: true });
  return secondsOf(() =>
    SatscribeProcess.start(['index', '--until', String(chain.height)], dataDir, nodeSettings(node)),
  );
}

/** ord's own first sync: neither sats nor addresses, from an empty folder, ended when it is at the tip. */
function ordSync(ord: string, node: RegtestNode): Promise<number> {
  const dataDir = join(benchData, 'ord');
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  const { user, password } = node.access;
  const words = [
    '--regtest',
    `--bitcoin-rpc-url=127.0.0.1:${node.rpcPort}`,
    `--bitcoin-rpc-username=${user}`,
    `--bitcoin-rpc-password=${password}`,
    `--data-dir=${dataDir}`,
    'index',
    'update',
  ];
  return secondsOf(async () => {
    const log = openSync(join(dataDir, 'output.log'), 'a');
    const child = spawn(ord, words, { stdio: ['ignore', log, log] });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code));
    });
    return {
      success: async () => {
        if ((await ended) !== 0) throw new Error(`ord failed, see ${dataDir}/output.log`);
      },
    };
  });
}

/** Paths of searches for pieces of texts of the chain, and for hashes of whole ones. */
function* searches(seed: string, random: Random): Generator<string> {
  const source = mainnetShapedTexts(seed);
  const texts = Array.from({ length: drawnTexts }, () => source.next().body);
  for (;;) {
    const body = texts[random.below(texts.length)] as Uint8Array;
    if (random.unit() < 0.25) {
      yield `/search?hash=${hash('sha256', body)}`;
      continue;
    }
    const characters = Array.from(Buffer.from(body).toString());
    const length = 6 + random.below(9);
    const from = random.below(Math.max(1, characters.length - length));
    const needle = characters
      .slice(from, from + length)
      .join('')
      .trim();
    if (needle !== '') yield `/search?text=${encodeURIComponent(needle)}&phrase=1`;
  }
}

interface Latencies {
  readonly during: number[];
  readonly idle: number[];
}

/** Asks one search after the other while `satscribe serve` syncs from nothing, and as many when it is done. */
async function searchesDuringSync(node: RegtestNode, chain: FedChain, seed: string): Promise<Latencies> {
  const dataDir = join(benchData, 'searched-sync');
  rmSync(dataDir, { recursive: true, force: true });
  const satscribe = await SatscribeProcess.start(['serve', '--port', '0'], dataDir, nodeSettings(node));
  try {
    const origin = await satscribe.ready();
    const paths = searches(seed, seededRandom(`searches ${seed}`));
    const ask = async (): Promise<number> => {
      const path = paths.next().value as string;
      const start = performance.now();
      const total = await totalItems(origin, path);
      const ms = performance.now() - start;
      if (total === null) throw new Error(`${path} was not answered`);
      await delay(betweenQuestionsMs);
      return ms;
    };
    const during: number[] = [];
    while ((await indexedHeight(origin)) < chain.height) during.push(await ask());
    await delay(settleMs);
    const idle: number[] = [];
    while (idle.length < Math.max(leastIdleQuestions, during.length)) idle.push(await ask());
    return { during, idle };
  } finally {
    await satscribe.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Runs {
  readonly firstSync: number[];
  readonly ord: number[];
  readonly latencies: Latencies;
}

/** First syncs in turns, so that what else the machine does hits all alike. */
async function runs(task: SyncTask, dataDir: string, chain: FedChain): Promise<Runs> {
  const node = await RegtestNode.start({ bitcoind: task.bitcoind, dataDir });
  const made: Runs = { firstSync: [], ord: [], latencies: { during: [], idle: [] } };
  try {
    for (let round = 0; round < task.rounds; round++) {
      made.firstSync.push(chain.bytes / 1e6 / (await firstSync(node, chain)));
      if (task.ord !== null) made.ord.push(chain.bytes / 1e6 / (await ordSync(task.ord, node)));
      const { during, idle } = await searchesDuringSync(node, chain, task.seed);
      made.latencies.during.push(...during);
      made.latencies.idle.push(...idle);
    }
  } finally {
    await node.stop();
    for (const name of ['first-sync', 'ord']) rmSync(join(benchData, name), { recursive: true, force: true });
  }
  return made;
}

/** How quickly a chain of mainnet's shape comes in, and whether searches are answered meanwhile. */
export async function syncSection(task: SyncTask): Promise<Section> {
  const { bitcoind, seed, leastBytes, rounds } = task;
  const { dataDir, chain } = await fedNode(bitcoind, { seed, leastBytes });
  const rates = { bitcoind, dataDir, rounds };
  const rest = await sourceRates({ ...rates, rest: true, mostBytes: chain.bytes });
  const rpc = await sourceRates({ ...rates, rest: false, mostBytes: rpcBytesMax, rounds: 1 });
  const { firstSync: synced, ord, latencies } = await runs(task, dataDir, chain);
  const [during, idle] = [percentile(latencies.during, 0.99), percentile(latencies.idle, 0.99)];
  const rate = (name: string, values: readonly number[]): Figure => ({
    name,
    value: median(values),
    unit: 'MB/s',
  });
  return {
    notes: [
      `sync: ${(chain.bytes / 1e6).toFixed(0)} MB in ${chain.blocks} blocks of mainnet's shape, made in ${chain.generateSeconds.toFixed(0)} s and fed to the node in ${chain.feedSeconds.toFixed(0)} s when they were new; medians of ${rounds} runs`,
      'first sync: `satscribe index` in a process of its own, from an empty folder (its Postgres is made too) to its end, with all indexes built and everything sealed; ord: `ord index update`, neither sats nor addresses',
      `searches: ${latencies.during.length} during first syncs of \`satscribe serve\`, ${latencies.idle.length} when it was idle afterwards, one at a time, over HTTP`,
    ],
    figures: [
      rate('restSourceMBps', rest),
      rate('rpcSourceMBps', rpc),
      rate('firstSyncMBps', synced),
      ...(ord.length === 0
        ? []
        : [
            rate('ordMBps', ord),
            {
              name: 'firstSyncOverOrd',
              value: median(synced) / median(ord),
              unit: 'x',
              target: { least: 5 },
            },
          ]),
      { name: 'searchP99DuringSyncRatio', value: during / idle, unit: 'x', target: { most: 2 } },
    ],
    details: [
      { name: 'searches during sync, p50', value: percentile(latencies.during, 0.5), unit: 'ms' },
      { name: 'searches during sync, p99', value: during, unit: 'ms' },
      { name: 'searches when idle, p50', value: percentile(latencies.idle, 0.5), unit: 'ms' },
      { name: 'searches when idle, p99', value: idle, unit: 'ms' },
    ],
  };
}
