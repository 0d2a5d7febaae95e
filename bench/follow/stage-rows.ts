import { readFileSync } from 'node:fs';
import { partOf, type StagePart } from '#kernel/stages/stage-list.ts';
import type { StageRow, StageSums } from '#kernel/stages/stage-sums.ts';
import { cellsOf, shownRows, stageHeads } from '#kernel/stages/stage-table.ts';
import type { Table } from '../report.ts';
import type { ProcessorTime } from './processor-time.ts';

/** Reads the sums at the end of a trace file. */
export function readStageSums(path: string): StageSums {
  const events = JSON.parse(readFileSync(path, 'utf8')) as { name: string; args: StageSums }[];
  const last = events.at(-1);
  if (last?.name !== 'stages') throw new Error(`${path} has no sums: the run did not end`);
  return last.args;
}

/** Parts that process one batch after another. */
const parts: readonly StagePart[] = ['main thread', 'writer connection', 'sealer thread'];

/**
 * Name of the main thread's other work: sockets, streams, garbage collection and the start. No other thread does this
 * work.
 */
const mainsOther = 'main thread, other';

/**
 * The part that would limit a sync with any number of cores, and its processor seconds. Fetching, checking and parsing
 * are not included, because more threads make them faster. Index builds are not included either. The main thread counts
 * completely, from its start to its end, including the time in which it receives blocks from the node.
 */
export function criticalPart(rows: readonly StageRow[]): { readonly name: string; readonly seconds: number } {
  const sums = parts.map((name) => {
    const own = rows.filter(
      ({ stage }) => partOf(stage) === name || (name === 'main thread' && stage === mainsOther),
    );
    return { name, seconds: own.reduce((sum, { cpuMs }) => sum + (cpuMs ?? 0), 0) / 1000 };
  });
  return sums.reduce((most, each) => (each.seconds > most.seconds ? each : most));
}

/** @param time processor time of complete processes in the same run */
export function stagesTable(sums: StageSums, time: ProcessorTime): Table {
  const [, ...heads] = stageHeads;
  return {
    heads: ['stage of a first sync (a run of its own)', ...heads],
    rows: [
      ...shownRows(sums).map(cellsOf),
      ['all of Satscribe, with its start', time.oursSeconds.toFixed(2)],
      ['all of Postgres, with its start', time.postgresSeconds.toFixed(2)],
      ['all of the node meanwhile', time.nodeSeconds.toFixed(2)],
    ],
  };
}
