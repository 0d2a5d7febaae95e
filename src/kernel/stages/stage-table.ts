import type { StageRow, StageSums } from './stage-sums.ts';

/** Number of shown causes of waits, the longest ones: the rest is small. */
const shownWaits = 3;
/** Share of the whole time below which a stage is left out. */
const leastShare = 0.01;
/** Milliseconds and bytes that would be shown as 0.00 and 0.0. */
const leastShownMs = 5;
const leastShownBytes = 50_000;

/** Heads of the cells of a row. */
export const stageHeads = [
  'stage',
  'processor (s)',
  'waiting (s)',
  'all (s)',
  'times',
  'MB',
  'rows',
  'waited for (s)',
] as const;

/**
 * The rows of stages that took at least a hundredth of the time: computing, waiting, or, if that is unknown, at all.
 */
export function shownRows({ ms, rows }: StageSums): StageRow[] {
  return rows.filter((row) => Math.max(row.cpuMs ?? row.ms, row.waitMs) >= ms * leastShare);
}

/** E.g. `fetch 1.50, parse 0.22`: the longest waits of a stage, in seconds. */
function waitsOf({ waitedFor }: StageRow): string {
  return Object.entries(waitedFor)
    .filter(([, ms]) => ms >= leastShownMs)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, shownWaits)
    .map(([name, ms]) => `${name} ${seconds(ms)}`)
    .join(', ');
}

/** The sums as aligned lines of text, and below them those of whole processes. */
export function stageTable(sums: StageSums): string {
  const shown = shownRows(sums);
  const { satscribe, postgres } = sums.processes;
  const lines = [
    [...stageHeads],
    ...shown.map(cellsOf),
    ['all of Satscribe', seconds(satscribe)],
    ...(postgres === null ? [] : [['all of Postgres', seconds(postgres)]]),
  ];
  const widths = stageHeads.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  const table = lines.map((line) =>
    line
      .map((cell, column) => {
        const isText = column === 0 || column === stageHeads.length - 1;
        return isText ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
      })
      .join('  ')
      .trimEnd(),
  );
  const leftOut = sums.rows.length - shown.length;
  const rest = leftOut === 0 ? '' : `; ${leftOut} stages below 1 % of it are only in the trace`;
  return [...table, `${seconds(sums.ms)} s in all${rest}`].join('\n');
}

/** The cells of a row: its name, then texts for the other heads, empty if there is no value. */
export function cellsOf(row: StageRow): [name: string, ...others: string[]] {
  const { stage, count, ms, cpuMs, waitMs, bytes, rows } = row;
  return [
    stage,
    cpuMs === null ? '' : seconds(cpuMs),
    waitMs < leastShownMs ? '' : seconds(waitMs),
    ms === 0 ? '' : seconds(ms),
    ms === 0 ? '' : String(count),
    bytes < leastShownBytes ? '' : (bytes / 1e6).toFixed(1),
    rows === 0 ? '' : String(rows),
    waitsOf(row),
  ];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
