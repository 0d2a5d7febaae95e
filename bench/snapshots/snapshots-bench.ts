import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Description } from '#test/builders/block-folder.ts';
import { generatedChain } from '../index/generated-chain.ts';
import { described } from '../index/index-bench.ts';
import { type IndexOutcome, runIndex } from '../index/index-process.ts';
import { repeatedChain } from '../index/repeated-chain.ts';
import { nameOption, numberOption } from '../options.ts';
import type { Figure, Report, Table } from '../report.ts';
import { median } from '../statistics.ts';
import { runSnapshot, type SnapshotOutcome, type SnapshotPart } from './snapshot-process.ts';

interface Chain {
  readonly name: 'real' | 'generated';
  readonly dir: string;
  /** Last height of the first sync; null: the whole folder. */
  readonly until: number | null;
  readonly description: Description;
}

interface Round {
  readonly sync: IndexOutcome;
  readonly exported: SnapshotOutcome;
  readonly imported: SnapshotOutcome;
}

interface Measured {
  readonly rounds: readonly Round[];
  /** Size of all files of a snapshot. */
  readonly fileBytes: number;
}

async function measure({ dir, until }: Chain, rounds: number): Promise<Measured> {
  const [dataDir, folder, target] = [`${dir}-synced`, `${dir}-snapshot`, `${dir}-imported`];
  const forget = (): void => {
    for (const each of [dataDir, folder, target]) if (existsSync(each)) rmSync(each, { recursive: true });
  };
  const measured: Round[] = [];
  let fileBytes = 0;
  for (let round = 0; round < rounds; round++) {
    forget();
    const sync = await runIndex({ folder: dir, dataDir, bulkUntil: until, tip: false, stages: false });
    const exported = await runSnapshot({ step: 'export', dataDir, folder });
    fileBytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    const imported = await runSnapshot({ step: 'import', dataDir: target, folder });
    measured.push({ sync, exported, imported });
  }
  forget();
  return { rounds: measured, fileBytes };
}

const syncPart = ({ indexMs, sealMs, processorMs }: IndexOutcome): SnapshotPart => ({
  name: 'first sync, with sealing',
  ms: indexMs + sealMs,
  processorMs,
});

const wall = ({ ms }: SnapshotPart): number => ms;
const processor = ({ processorMs: { ours, postgres } }: SnapshotPart): number => ours + postgres;

/** The median of the rounds' ratios: a first sync, divided by the parts of an import whose names are not left out. */
function ratio(rounds: readonly Round[], of: (part: SnapshotPart) => number, leftOut: string[]): number {
  return median(
    rounds.map(({ sync, imported }) => {
      const parts = imported.parts.filter(({ name }) => !leftOut.includes(name));
      return of(syncPart(sync)) / parts.reduce((sum, part) => sum + of(part), 0);
    }),
  );
}

function figuresOf(name: Chain['name'], rounds: readonly Round[]): Figure[] {
  const unit = 'x';
  return [
    { name: `${name}SyncOverImport`, value: ratio(rounds, wall, []), unit, target: { least: 3 } },
    {
      name: `${name}SyncOverImportProcessor`,
      value: ratio(rounds, processor, []),
      unit,
      target: { least: 3 },
    },
    { name: `${name}SyncOverUncheckedImport`, value: ratio(rounds, wall, ['check']), unit },
    {
      name: `${name}SyncOverUncheckedImportProcessor`,
      value: ratio(rounds, processor, ['check']),
      unit,
    },
  ];
}

function tableOf(name: string, rounds: readonly Round[]): Table {
  const parts = rounds.map(({ sync, exported, imported }) => [
    syncPart(sync),
    ...exported.parts,
    ...imported.parts,
  ]);
  const rows = (parts[0] ?? []).map((part, at): [string, ...number[]] => {
    const each = parts.map((round) => round[at] ?? part);
    const value = (of: (measured: SnapshotPart) => number): number => median(each.map(of));
    return [
      part.name,
      value(wall),
      value(({ processorMs }) => processorMs.ours),
      value(({ processorMs }) => processorMs.postgres),
    ];
  });
  return { heads: [`${name}: medians of`, 'ms', 'processor ms, ours', 'processor ms, Postgres'], rows };
}

function detailsOf(name: string, { rounds, fileBytes }: Measured): Figure[] {
  const last = rounds.at(-1);
  return [
    { name: `${name}, inscriptions`, value: last?.sync.inscriptions ?? 0, unit: '' },
    { name: `${name}, blocks`, value: (last?.sync.bytes ?? 0) / 1e6, unit: 'MB' },
    { name: `${name}, database`, value: (last?.sync.databaseBytes ?? 0) / 1e6, unit: 'MB' },
    { name: `${name}, files of the snapshot`, value: fileBytes / 1e6, unit: 'MB' },
    { name: `${name}, events in rebuilt texts`, value: last?.imported.events ?? 0, unit: '' },
    { name: `${name}, compared hashes`, value: last?.imported.compared ?? 0, unit: '' },
  ];
}

/** `npm run bench -- snapshots`: whether a copy of the schema `chain` is faster than a first sync (ADR 104). */
export async function snapshotsBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      blocks: { type: 'string', default: 'samples/mainnet' },
      megabytes: { type: 'string', default: '200' },
      docs: { type: 'string', default: '200000' },
      seed: { type: 'string', default: '1' },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string' },
    },
  });
  const rounds = numberOption('rounds', values.rounds, 1);
  const only = nameOption('only', values.only, ['real', 'generated']);
  const chains: Chain[] = [];
  if (only !== 'generated') {
    const { dir, description } = repeatedChain(
      values.blocks,
      numberOption('megabytes', values.megabytes, 1) * 1e6,
    );
    chains.push({ name: 'real', dir, until: null, description });
  }
  if (only !== 'real') {
    const { dir, description } = generatedChain({ docs: values.docs, moves: '0', seed: values.seed });
    chains.push({ name: 'generated', dir, until: description['bulkHeight'] as number, description });
  }
  const results: { chain: Chain; measured: Measured }[] = [];
  for (const chain of chains) results.push({ chain, measured: await measure(chain, rounds) });
  return {
    bench: 'snapshots',
    notes: [
      ...chains.map(({ name, description }) => `${name}: ${described(description)}`),
      `${rounds} rounds: a first sync, a copy of its tables to files, and a copy of these files into a new database`,
      'the start of Postgres and the migrations are not counted, neither for the sync nor for the import',
      'the embedded Postgres is durable; files are in the cache of the system if they fit',
    ],
    figures: results.flatMap(({ chain, measured }) => figuresOf(chain.name, measured.rounds)),
    details: results.flatMap(({ chain, measured }) => detailsOf(chain.name, measured)),
    tables: results.map(({ chain, measured }) => tableOf(chain.name, measured.rounds)),
  };
}
