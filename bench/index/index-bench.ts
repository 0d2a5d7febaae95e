import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Description } from '#test/builders/block-folder.ts';
import { numberOption, OptionError } from '../options.ts';
import type { Figure, Report, Table } from '../report.ts';
import { median } from '../statistics.ts';
import { benchData, type GeneratedChain, generatedChain } from './generated-chain.ts';
import { type IndexOutcome, runIndex } from './index-process.ts';
import { repeatedChain } from './repeated-chain.ts';

const largestRelations = 8;

interface Part {
  readonly outcomes: readonly IndexOutcome[];
  readonly notes: string[];
  readonly figures: Figure[];
  readonly details: Figure[];
  readonly table: Table;
}

/**
 * The commit rate for the last fifth of the inscriptions, divided by that for the first fifth. The first fifth starts
 * with the first commit.
 */
function lastFifthOverFirst({ commits, inscriptions }: IndexOutcome): number {
  const [firstMs, firstCount] = commits.find(([, count]) => count > 0) as readonly [number, number];
  const timeOf = (wanted: number): number => {
    const after = commits.findIndex(([, count]) => count >= wanted && count > firstCount);
    const [ms, count] = commits[after] as readonly [number, number];
    const [beforeMs, beforeCount] = commits[after - 1] as readonly [number, number];
    return beforeMs + ((ms - beforeMs) * (wanted - beforeCount)) / (count - beforeCount);
  };
  const fifth = inscriptions / 5;
  const first = (fifth - firstCount) / (timeOf(fifth) - firstMs);
  return fifth / (timeOf(inscriptions) - timeOf(inscriptions - fifth)) / first;
}

const totalMs = (outcome: IndexOutcome): number => outcome.indexMs + outcome.sealMs;
const medianOf = (outcomes: readonly IndexOutcome[], value: (outcome: IndexOutcome) => number): number =>
  median(outcomes.map(value));
const most = (outcomes: readonly IndexOutcome[], value: (outcome: IndexOutcome) => number): number =>
  Math.max(...outcomes.map(value));

/** Describes a chain as its generators do. */
export function described(description: Description): string {
  return Object.entries(description)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Number(value.toPrecision(4)) : value}`)
    .join(', ');
}

/** Runs the index with profiling. Profiling slows the run down, so the run is not counted. */
async function stagesOf(chain: string, folder: string, bulkUntil: number | null): Promise<Table> {
  const dataDir = join(benchData, 'stages-database');
  const { stages } = await runIndex({ folder, dataDir, bulkUntil, tip: false, stages: true });
  rmSync(dataDir, { recursive: true });
  return {
    heads: [`${chain}: stage (a run of its own, slowed by looking)`, 'ms', 'MB allocated'],
    rows: stages.filter(({ ms }) => ms >= 1).map(({ name, ms, allocatedMB }) => [name, ms, allocatedMB]),
  };
}

async function realPart(blocks: string, leastBytes: number, runs: number): Promise<Part> {
  const { dir: folder, blocks: count, description } = repeatedChain(blocks, leastBytes);
  const dataDir = `${folder}-database`;
  const outcomes: IndexOutcome[] = [];
  for (let run = 0; run < runs; run++) {
    outcomes.push(await runIndex({ folder, dataDir, bulkUntil: null, tip: false, stages: false }));
  }
  rmSync(dataDir, { recursive: true });
  return {
    outcomes,
    notes: [
      `real: ${count} blocks of ${blocks}, ${described(description)}`,
      "real: other locktimes and so other txids in every repetition, with new roots and commitments; the proof of work is regtest's; contents are the same in every repetition",
    ],
    figures: [
      {
        name: 'realMBps',
        value: medianOf(outcomes, (outcome) => outcome.bytes / 1000 / totalMs(outcome)),
        unit: 'MB/s',
        target: { least: 60 },
      },
    ],
    details: [
      { name: 'real, inscriptions', value: outcomes[0]?.inscriptions ?? 0, unit: '' },
      { name: 'real, indexing', value: medianOf(outcomes, ({ indexMs }) => indexMs), unit: 'ms' },
      { name: 'real, with sealing after it', value: medianOf(outcomes, ({ sealMs }) => sealMs), unit: 'ms' },
      { name: 'real, peak memory', value: most(outcomes, ({ peakMemoryMB }) => peakMemoryMB), unit: 'MB' },
      {
        name: 'real, event loop p99',
        value: medianOf(outcomes, ({ eventLoopP99Ms }) => eventLoopP99Ms),
        unit: 'ms',
      },
    ],
    table: await stagesOf('real', folder, null),
  };
}

async function generatedPart(chain: GeneratedChain, runs: number): Promise<Part> {
  const bulkUntil = chain.description['bulkHeight'] as number;
  const outcomes: IndexOutcome[] = [];
  for (let run = 1; run <= runs; run++) {
    const task = { folder: chain.dir, dataDir: chain.dataDir, bulkUntil, stages: false };
    outcomes.push(await runIndex({ ...task, tip: run === runs }));
  }
  const last = outcomes.at(-1) as IndexOutcome;
  return {
    outcomes,
    notes: [
      `generated: ${described(chain.description)}`,
      `generated: searchable is committed, all indexes built, all segments sealed; the median of ${last.tipMs.length} blocks at the tip, from its read to its commit, threads started for it included`,
    ],
    figures: [
      {
        name: 'inscriptionsPerSecond',
        value: medianOf(outcomes, (outcome) => (outcome.inscriptions * 1000) / totalMs(outcome)),
        unit: '1/s',
        target: { least: 40_000 },
      },
      {
        name: 'lastFifthOverFirstFifth',
        value: medianOf(outcomes, lastFifthOverFirst),
        unit: 'x',
        target: { least: 0.9 },
      },
      { name: 'tipBlockMs', value: median(last.tipMs), unit: 'ms', target: { most: 600 } },
      {
        name: 'bytesPerInscription',
        value: medianOf(outcomes, (outcome) => outcome.databaseBytes / outcome.inscriptions),
        unit: 'bytes',
        target: { most: 600 },
      },
    ],
    details: [
      { name: 'generated, indexing', value: medianOf(outcomes, ({ indexMs }) => indexMs), unit: 'ms' },
      { name: 'generated, of it after the last commit', value: medianOf(outcomes, afterCommits), unit: 'ms' },
      {
        name: 'generated, with sealing after it',
        value: medianOf(outcomes, ({ sealMs }) => sealMs),
        unit: 'ms',
      },
      {
        name: 'generated, peak memory',
        value: most(outcomes, ({ peakMemoryMB }) => peakMemoryMB),
        unit: 'MB',
      },
      {
        name: 'generated, event loop p99',
        value: medianOf(outcomes, ({ eventLoopP99Ms }) => eventLoopP99Ms),
        unit: 'ms',
      },
      { name: 'tip block, slowest', value: Math.max(...last.tipMs), unit: 'ms' },
      ...last.sizes.slice(0, largestRelations).map(({ name, bytes }) => ({
        name: `size, ${name}`,
        value: bytes / last.inscriptions,
        unit: 'bytes an inscription',
      })),
    ],
    table: await stagesOf('generated', chain.dir, bulkUntil),
  };
}

/** How long indexing took after the last commit, in ms. This is the time for the secondary indexes. */
function afterCommits({ commits, indexMs }: IndexOutcome): number {
  return indexMs - (commits.at(-1)?.[0] ?? 0);
}

/** `npm run bench -- index`: from blocks on disk to searchable rows. */
export async function indexBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      blocks: { type: 'string', default: 'samples/mainnet' },
      megabytes: { type: 'string', default: '1000' },
      docs: { type: 'string', default: '1000000' },
      moves: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '5' },
      only: { type: 'string' },
    },
  });
  const runs = numberOption('rounds', values.rounds, 1);
  const { only } = values;
  if (only !== undefined && only !== 'real' && only !== 'generated') {
    throw new OptionError(`--only must be real or generated, not '${only}'`);
  }
  const parts: Part[] = [];
  if (only !== 'generated') {
    parts.push(await realPart(values.blocks, numberOption('megabytes', values.megabytes, 1) * 1e6, runs));
  }
  if (only !== 'real') {
    parts.push(await generatedPart(generatedChain(values), runs));
  }
  const outcomes = parts.flatMap((part) => part.outcomes);
  const delays = parts.map((part) => medianOf(part.outcomes, ({ eventLoopP99Ms }) => eventLoopP99Ms));
  return {
    bench: 'index',
    notes: [
      ...parts.flatMap((part) => part.notes),
      `medians of ${runs} runs, each in a process and a database of its own; block files are in the system's cache if they fit; the embedded Postgres is durable`,
    ],
    figures: [
      ...parts.flatMap((part) => part.figures),
      {
        name: 'peakMemoryMB',
        value: most(outcomes, ({ peakMemoryMB }) => peakMemoryMB),
        unit: 'MB',
        target: { most: 700 },
      },
      { name: 'eventLoopP99Ms', value: Math.max(...delays), unit: 'ms', target: { most: 50 } },
    ],
    details: parts.flatMap((part) => part.details),
    tables: parts.map((part) => part.table),
  };
}
