import { readFileSync } from 'node:fs';
import type { StageRow } from '#kernel/stages/stage-recorder.ts';
import type { Table } from '../report.ts';

/** The sums at the end of a trace file. */
export function readStageRows(path: string): StageRow[] {
  const events = JSON.parse(readFileSync(path, 'utf8')) as { name: string; args: { rows: StageRow[] } }[];
  const last = events.at(-1);
  if (last?.name !== 'stages') throw new Error(`${path} has no sums: the run did not end`);
  return last.args.rows;
}

/** Stages that follow each other for every batch: each group is a thread or a connection. */
const groups: readonly (readonly [name: string, stages: RegExp])[] = [
  ['main thread', /^(ledger|encode|outbox, texts)/u],
  ['writer connection', /^(COPY |ends of locations|outbox$|commit|other statements)/u],
  ['sealer', /^sealing$/u],
];

/**
 * The part that would bound a sync with any number of cores, and its processor seconds. Without fetching, checking and
 * parsing, which more threads do faster, and without what follows the last block.
 */
export function criticalPart(rows: readonly StageRow[]): { readonly name: string; readonly seconds: number } {
  const sums = groups.map(([name, stages]) => {
    const own = rows.filter(({ stage }) => stages.test(stage));
    return { name, seconds: own.reduce((sum, { cpuMs }) => sum + (cpuMs ?? 0), 0) / 1000 };
  });
  return sums.reduce((most, each) => (each.seconds > most.seconds ? each : most));
}

export function stagesTable(rows: readonly StageRow[]): Table {
  return {
    heads: [
      'stage of a first sync (a run of its own)',
      'times',
      'seconds',
      'processor',
      'waiting',
      'MB',
      'rows',
      'most for',
    ],
    rows: rows.map(({ stage, count, ms, cpuMs, waitMs, bytes, rows: rowCount, waitedFor }) => {
      const [most] = Object.entries(waitedFor).toSorted(([, one], [, other]) => other - one);
      return [
        stage,
        count,
        ms / 1000,
        cpuMs === null ? null : cpuMs / 1000,
        waitMs / 1000,
        bytes / 1e6,
        rowCount,
        most?.[0] ?? null,
      ];
    }),
  };
}
