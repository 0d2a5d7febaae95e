import { spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { StageSums } from '#kernel/stages/stage-sums.ts';
import { type Bitcoind, startBitcoind } from '#test/support/node/bitcoind.ts';
import { benchData } from '../index/generated-chain.ts';
import type { Figure } from '../report.ts';
import { median, percentile } from '../statistics.ts';
import { type FedChain, fedNode } from './fed-node.ts';
import { type ProcessorTime, withProcessorTime } from './processor-time.ts';
import { nodeSettings, SatscribeProcess } from './satscribe-process.ts';
import { type SearchedSync, searchedSync, searchesMin } from './searched-sync.ts';
import type { Section } from './section.ts';
import { sourceRates } from './source-rates.ts';
import { criticalPart, readStageSums, stagesTable } from './stage-rows.ts';

export interface SyncTask {
  readonly bitcoind: string;
  readonly seed: string;
  readonly leastBytes: number;
  readonly rounds: number;
  /** Path of ord's program; `null` if there is none. */
  readonly ord: string | null;
}

export const firstSyncFolder = join(benchData, 'first-sync');
/** Maximum number of bytes read by RPC. RPC takes many times as long as REST, so a part of the chain is enough. */
const rpcBytesMax = 60e6;
/** Maximum number of syncs, if the chain is too short for enough searches in one sync. */
const searchedSyncsMax = 8;

/** Seconds from the start of a process to its end. */
async function secondsOf(start: () => Promise<{ success(): Promise<void> }>): Promise<number> {
  const from = performance.now();
  await (await start()).success();
  return (performance.now() - from) / 1000;
}

export interface FirstSync extends ProcessorTime {
  readonly seconds: number;
}

/** Runs a first sync: `satscribe index` from an empty folder to the tip. The folder is kept. */
export async function firstSync(
  node: Bitcoind,
  chain: FedChain,
  flags: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<FirstSync> {
  const dataDir = firstSyncFolder;
  rmSync(dataDir, { recursive: true, force: true });
  const words = ['index', '--until', String(chain.height), ...flags];
  const { result: seconds, time } = await withProcessorTime(dataDir, node.dataDir, () =>
    secondsOf(() => SatscribeProcess.start(words, dataDir, { ...nodeSettings(node), ...settings })),
  );
  return { seconds, ...time };
}

interface TracedSync {
  readonly time: ProcessorTime;
  readonly stages: StageSums;
}

/** Runs a first sync that records its stages. It is not counted, because recording takes time. */
async function tracedSync(node: Bitcoind, chain: FedChain): Promise<TracedSync> {
  const path = join(benchData, 'first-sync-trace.json');
  const time = await firstSync(node, chain, ['--trace', path]);
  return { time, stages: readStageSums(path) };
}

/**
 * Runs ord's own first sync, from an empty folder to the tip. Returns its seconds. Without flags, ord indexes neither
 * sats nor addresses.
 */
export function ordSync(ord: string, node: Bitcoind, flags: readonly string[] = []): Promise<number> {
  const dataDir = join(benchData, 'ord');
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  const words = [
    '--regtest',
    `--bitcoin-rpc-url=127.0.0.1:${node.rpcPort}`,
    `--cookie-file=${node.cookieFile}`,
    `--data-dir=${dataDir}`,
    ...flags,
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

interface Runs {
  readonly firstSync: FirstSync[];
  readonly traced: TracedSync;
  readonly ord: number[];
  readonly searched: readonly SearchedSync[];
}

const countOf = (searched: readonly SearchedSync[]): number =>
  searched.reduce((sum, { during }) => sum + during.length, 0);

/** Runs first syncs that alternate, so that other load on the machine affects both equally. */
async function runs(task: SyncTask, dataDir: string, chain: FedChain): Promise<Runs> {
  const node = await startBitcoind({ executable: task.bitcoind, dataDir });
  const made = { firstSync: [] as FirstSync[], ord: [] as number[], searched: [] as SearchedSync[] };
  const { seed } = task;
  const dir = join(benchData, 'searched-sync');
  const search = async (): Promise<void> => {
    made.searched.push(await searchedSync({ node, height: chain.height, seed, dataDir: dir }));
  };
  try {
    for (let round = 0; round < task.rounds; round++) {
      made.firstSync.push(await firstSync(node, chain));
      if (task.ord !== null) made.ord.push(chain.bytes / 1e6 / (await ordSync(task.ord, node)));
      await search();
    }
    const traced = await tracedSync(node, chain);
    while (countOf(made.searched) < searchesMin && made.searched.length < searchedSyncsMax) await search();
    return { ...made, traced };
  } finally {
    await node.stop();
    for (const name of ['first-sync', 'ord']) rmSync(join(benchData, name), { recursive: true, force: true });
  }
}

/** How much first syncs use the machine's cores. */
function processorFigures(runs: readonly FirstSync[], bytes: number): Figure[] {
  const per100MB = (of: (run: FirstSync) => number): number => median(runs.map(of)) / (bytes / 100e6);
  return [
    {
      name: 'cpuSecondsPer100MB',
      value: per100MB(({ oursSeconds, postgresSeconds }) => oursSeconds + postgresSeconds),
      unit: 's',
    },
    { name: 'nodeCpuSecondsPer100MB', value: per100MB(({ nodeSeconds }) => nodeSeconds), unit: 's' },
    {
      name: 'coresBusy',
      value: median(
        runs.map(
          ({ oursSeconds, postgresSeconds, nodeSeconds, seconds }) =>
            (oursSeconds + postgresSeconds + nodeSeconds) / seconds,
        ),
      ),
      unit: '',
      target: { least: 1.8 },
    },
  ];
}

/** Measures the first sync of a chain like mainnet's, and the searches during it. */
export async function syncSection(task: SyncTask): Promise<Section> {
  const { bitcoind, seed, leastBytes, rounds } = task;
  const { dataDir, chain } = await fedNode(bitcoind, { seed, leastBytes });
  const rates = { bitcoind, dataDir, rounds };
  const rest = await sourceRates({ ...rates, rest: true, mostBytes: chain.bytes });
  const rpc = await sourceRates({ ...rates, rest: false, mostBytes: rpcBytesMax, rounds: 1 });
  const { firstSync: syncs, ord, searched, traced } = await runs(task, dataDir, chain);
  const synced = syncs.map(({ seconds }) => chain.bytes / 1e6 / seconds);
  const critical = criticalPart(traced.stages.rows);
  const times = {
    during: searched.flatMap(({ during }) => during),
    idle: searched.flatMap(({ idle }) => idle),
  };
  const [during, idle] = [percentile(times.during, 0.99), percentile(times.idle, 0.99)];
  const rate = (name: string, values: readonly number[]): Figure => ({
    name,
    value: median(values),
    unit: 'MB/s',
  });
  return {
    notes: [
      `sync: ${(chain.bytes / 1e6).toFixed(0)} MB in ${chain.blocks} blocks of mainnet's shape, made in ${chain.generateSeconds.toFixed(0)} s and fed to the node in ${chain.feedSeconds.toFixed(0)} s when they were new; medians of ${rounds} runs`,
      'first sync: `satscribe index` in a process of its own, from an empty folder (its Postgres is made too) to its end, with all indexes built and everything sealed; ord: `ord index update`, neither sats nor addresses',
      'processor time: of whole process trees, with children that have ended; cores busy: with the node',
      `critical stage: the ${critical.name} alone, ${critical.seconds.toFixed(1)} s of processor time in a run with the node and --trace (bench/data/first-sync-trace.json), which itself costs some per cent`,
      `searches: ${times.during.length} from the first answer of \`satscribe serve\` until all blocks and indexes were there, ${times.idle.length} of the same data when it was sealed and vacuumed; one at a time, over HTTP, 10 ms after the answer before`,
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
              target: { least: 2.5 },
            },
          ]),
      ...processorFigures(syncs, chain.bytes),
      { name: 'criticalStageMBps', value: chain.bytes / 1e6 / critical.seconds, unit: 'MB/s' },
      { name: 'searchP99DuringSyncRatio', value: during / idle, unit: 'x', target: { most: 2 } },
    ],
    tables: [stagesTable(traced.stages, traced.time)],
    stages: traced.stages.rows,
    details: [
      {
        name: 'first sync while searched',
        value: median(searched.map(({ seconds }) => chain.bytes / 1e6 / seconds)),
        unit: 'MB/s',
      },
      { name: 'searches during sync, p50', value: percentile(times.during, 0.5), unit: 'ms' },
      { name: 'searches during sync, p99', value: during, unit: 'ms' },
      { name: 'searches when idle, p50', value: percentile(times.idle, 0.5), unit: 'ms' },
      { name: 'searches when idle, p99', value: idle, unit: 'ms' },
    ],
  };
}
