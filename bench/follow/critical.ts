import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchData } from '../index/generated-chain.ts';
import { OptionError } from '../options.ts';
import { processOutcome } from '../process-outcome.ts';
import type { Table } from '../report.ts';
import { median } from '../statistics.ts';
import { fedNode } from './fed-node.ts';
import type { Section } from './section.ts';

export interface CriticalTask {
  readonly bitcoind: string;
  readonly nodeFolder: string;
  readonly dataDir: string;
}

/** Times since the first block was requested, in ms. */
export interface CriticalTimes {
  readonly wallMs: number;
  /** Processor time of the main thread in ms. The next two are those of all our threads, and of Postgres. */
  readonly mainMs: number;
  readonly oursMs: number;
  readonly postgresMs: number;
}

export interface CriticalOutcome {
  readonly bytes: number;
  /** Times until the last block was decided and written. The index builds come after this. */
  readonly load: CriticalTimes;
  readonly all: CriticalTimes;
}

export interface CriticalOptions {
  readonly bitcoind: string;
  readonly seed: string;
  readonly leastBytes: number;
  readonly rounds: number;
}

const processFile = fileURLToPath(new URL('./critical-process.ts', import.meta.url));
/** Minimum number of cores: one for our process, and one for Postgres. */
const coresLeast = 2;

async function runAlone(bitcoind: string, nodeFolder: string): Promise<CriticalOutcome> {
  const dataDir = join(benchData, 'critical');
  rmSync(dataDir, { recursive: true, force: true });
  try {
    const task: CriticalTask = { bitcoind, nodeFolder, dataDir };
    return await processOutcome<CriticalOutcome>(processFile, task, 'the critical stage');
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const secondsOf = (outcomes: readonly CriticalOutcome[], ms: (outcome: CriticalOutcome) => number): number =>
  median(outcomes.map(ms)) / 1000;

type TimesOf = (outcome: CriticalOutcome) => CriticalTimes;
const parts: readonly (readonly [name: string, of: TimesOf])[] = [
  ['blocks, to the last commit', ({ load }) => load],
  ['with the indexes after them', ({ all }) => all],
];

/** Table of the use of both cores. The values are medians, so their sums may differ. */
function coresTable(outcomes: readonly CriticalOutcome[]): Table {
  const row = ([name, of]: (typeof parts)[number]): Table['rows'][number] => {
    const seconds = (value: (times: CriticalTimes) => number): number =>
      secondsOf(outcomes, (outcome) => value(of(outcome)));
    return [
      name,
      seconds(({ wallMs }) => wallMs),
      seconds(({ mainMs }) => mainMs),
      seconds(({ oursMs, mainMs }) => oursMs - mainMs),
      seconds(({ wallMs, oursMs }) => wallMs - oursMs),
      seconds(({ postgresMs }) => postgresMs),
      seconds(({ wallMs, postgresMs }) => wallMs - postgresMs),
    ];
  };
  return {
    heads: [
      'critical stage alone, seconds',
      'wall',
      'main thread',
      'our other threads',
      'our core waited',
      'Postgres',
      'its core waited',
    ],
    rows: parts.map(row),
  };
}

/** Measures only the critical stage. The values are medians, so their sums may differ. */
export async function criticalSection(options: CriticalOptions): Promise<Section> {
  const { bitcoind, seed, leastBytes, rounds } = options;
  if (availableParallelism() < coresLeast) throw new OptionError('the critical stage alone needs two cores');
  const { dataDir, chain } = await fedNode(bitcoind, { seed, leastBytes });
  const outcomes: CriticalOutcome[] = [];
  for (let round = 0; round < rounds; round++) outcomes.push(await runAlone(bitcoind, dataDir));
  const rate = (of: TimesOf): number =>
    median(outcomes.map((outcome) => outcome.bytes / 1000 / of(outcome).wallMs));
  return {
    notes: [
      `critical stage alone: ${(chain.bytes / 1e6).toFixed(0)} MB in ${chain.blocks} blocks of mainnet's shape, read and parsed into memory before the clock starts; then our process on one core and Postgres on another index them like a first sync, with runes and sales, but without a node, parse threads and sealing; medians of ${rounds} runs`,
    ],
    figures: [
      { name: 'criticalAloneMBps', value: rate(({ all }) => all), unit: 'MB/s' },
      { name: 'criticalAloneLoadMBps', value: rate(({ load }) => load), unit: 'MB/s' },
      { name: 'criticalAloneMainSeconds', value: secondsOf(outcomes, ({ all }) => all.mainMs), unit: 's' },
      {
        name: 'criticalAlonePostgresSeconds',
        value: secondsOf(outcomes, ({ all }) => all.postgresMs),
        unit: 's',
      },
    ],
    details: [],
    tables: [coresTable(outcomes)],
  };
}
