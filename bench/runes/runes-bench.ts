import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { TrackedOutputs } from '#indexer/ledger/tracked-outputs.ts';
import { decipher } from '#kernel/runes/runestone/decipher.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import { smallU128 } from '#kernel/runes/u128.ts';
import { seededRandom } from '#test/builders/random.ts';
import { bitcoind } from '../follow/follow-bench.ts';
import { type DerivedOutcome, runDerived } from '../index/derived-process.ts';
import { benchData } from '../index/generated-chain.ts';
import { numberOption, OptionError } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { median } from '../statistics.ts';
import { noticeWithRunes } from './notice-with-runes.ts';
import { runeAnswers } from './rune-answers.ts';
import { runeChain } from './rune-chain.ts';

interface Pair {
  readonly off: readonly DerivedOutcome[];
  readonly on: readonly DerivedOutcome[];
}

const cpuMs = ({ oursMs, postgresMs }: DerivedOutcome): number => oursMs + postgresMs;
const medianOf = (outcomes: readonly DerivedOutcome[], value: (outcome: DerivedOutcome) => number): number =>
  median(outcomes.map(value));

/** Runs syncs with and without runes, which take turns. */
async function compare(folder: string, rounds: number): Promise<Pair> {
  const [off, on]: [DerivedOutcome[], DerivedOutcome[]] = [[], []];
  const dataDir = join(benchData, 'runes-database');
  for (let round = 0; round < rounds; round++) {
    off.push(await runDerived({ folder, dataDir, indexRunes: false, indexSales: false }));
    on.push(await runDerived({ folder, dataDir, indexRunes: true, indexSales: false }));
  }
  return { off, on };
}

function runestonesPerSecond(): number {
  const count = 200_000;
  const script = encipher({
    kind: 'runestone',
    edicts: [{ id: { block: smallU128(840_000), tx: 1 }, amount: smallU128(1000), output: 1 }],
    etching: null,
    mint: { block: smallU128(840_000), tx: 1 },
    pointer: 2,
  });
  const started = performance.now();
  for (let at = 0; at < count; at++) decipher(script, 0, script.length, 3);
  return (count * 1000) / (performance.now() - started);
}

function trackedMB(outputs: number): number {
  const random = seededRandom('tracked');
  const tracked = new TrackedOutputs();
  for (let at = 0; at < outputs; at++) tracked.add(random.below(2 ** 32), random.below(2 ** 32));
  return tracked.sizeBytes / 1e6;
}

function detailsOf(name: string, { off, on }: Pair): Figure[] {
  return [
    { name: `${name}: without`, value: medianOf(off, ({ wallMs }) => wallMs), unit: 'ms' },
    { name: `${name}: with`, value: medianOf(on, ({ wallMs }) => wallMs), unit: 'ms' },
    {
      name: `${name}: our processor time, without`,
      value: medianOf(off, ({ oursMs }) => oursMs),
      unit: 'ms',
    },
    { name: `${name}: our processor time, with`, value: medianOf(on, ({ oursMs }) => oursMs), unit: 'ms' },
    { name: `${name}: Postgres, without`, value: medianOf(off, ({ postgresMs }) => postgresMs), unit: 'ms' },
    { name: `${name}: Postgres, with`, value: medianOf(on, ({ postgresMs }) => postgresMs), unit: 'ms' },
    { name: `${name}: outputs with runes`, value: on[0]?.balances ?? 0, unit: '' },
    {
      name: `${name}: bytes of tables and indexes`,
      value: (on[0]?.runeBytes ?? 0) / (on[0]?.balances ?? 1),
      unit: 'bytes an output',
    },
  ];
}

type Part = Omit<Report, 'bench'>;

interface SyncOptions {
  readonly seed: string;
  readonly blocks: number;
  readonly rounds: number;
  readonly balances: number;
  readonly tracked: number;
}

/** Measures a first sync with and without runes, and responses about runes. */
async function syncPart({ seed, blocks, rounds, balances, tracked }: SyncOptions): Promise<Part> {
  const chains = [0.05, 0.6].map((share) => runeChain({ seed, blocks, share }));
  const pairs: Pair[] = [];
  for (const { dir } of chains) pairs.push(await compare(dir, rounds));
  const [few, many] = pairs as [Pair, Pair];
  const slowdown = ({ off, on }: Pair): number =>
    medianOf(on, ({ wallMs }) => wallMs) / medianOf(off, ({ wallMs }) => wallMs);
  const cpuMicros =
    (1000 * (medianOf(many.on, cpuMs) - medianOf(many.off, cpuMs))) / (many.on[0]?.balances ?? 1);
  return {
    notes: [
      `${blocks} blocks of 2,000 transactions, 5 % and 60 % of them with runestones, the others payments, reveals and moves; medians of ${rounds} runs each, with and without runes in turns, all indexes built; texts of the newest 10 blocks kept`,
      `answers from ${balances} generated balances of ${balances / 10} runes, one with 200,000 holders, and an address with 5,000 runes; one question at a time, warm`,
    ],
    figures: [
      { name: 'slowdownAt5Percent', value: slowdown(few), unit: 'x', target: { most: 1.15 } },
      { name: 'slowdownAt60Percent', value: slowdown(many), unit: 'x', target: { most: 1.5 } },
      { name: 'cpuMicrosPerRunicOutput', value: cpuMicros, unit: 'µs', target: { most: 8 } },
      { name: 'runestonesPerSecond', value: runestonesPerSecond(), unit: '1/s' },
      { name: 'trackedMB', value: trackedMB(tracked), unit: 'MB' },
      ...(await runeAnswers(seed, balances)),
    ],
    details: [...detailsOf('5 %', few), ...detailsOf('60 %', many)],
  };
}

/** `npm run bench -- runes`: how much an index of runes costs in a first sync, and for a block at the tip. */
export async function runesBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      blocks: { type: 'string', default: '150' },
      tracked: { type: 'string', default: '10000000' },
      rounds: { type: 'string', default: '3' },
      balances: { type: 'string', default: '1000000' },
      only: { type: 'string' },
      seed: { type: 'string', default: '1' },
    },
  });
  const { only = null, seed } = values;
  if (only !== null && only !== 'sync' && only !== 'notice')
    throw new OptionError(`--only ${only}: the sections are sync (with answers) and notice`);
  const rounds = numberOption('rounds', values.rounds, 1);
  const blocks = numberOption('blocks', values.blocks, 10);
  const balances = numberOption('balances', values.balances, 100_000);
  const tracked = numberOption('tracked', values.tracked, 1);
  const parts: Part[] = [];
  if (only !== 'notice') parts.push(await syncPart({ seed, blocks, rounds, balances, tracked }));
  if (only !== 'sync') parts.push(await noticeWithRunes(bitcoind(), seed, rounds));
  return {
    bench: 'runes',
    notes: parts.flatMap(({ notes }) => notes),
    figures: parts.flatMap(({ figures }) => figures),
    details: parts.flatMap(({ details }) => details),
  };
}
