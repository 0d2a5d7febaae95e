import type { StageRow, StageSums } from './stage-sums.ts';

/** Number of shown causes of waits. Only the longest waits are shown, because the rest is small. */
const shownWaits = 3;
/** Share of the total time below which a stage is left out. */
const leastShare = 0.01;
/** Minimum milliseconds and bytes of a shown value. Smaller values would be shown as 0.00 and 0.0. */
const leastShownMs = 5;
const leastShownBytes = 50_000;

/** Column heads of the table. */
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
 * The rows of stages that computed or waited for at least a hundredth of the time. If the computing time is unknown,
 * their elapsed time is used.
 */
export function shownRows({ ms, rows }: StageSums): StageRow[] {
  return rows.filter((row) => Math.max(row.cpuMs ?? row.ms, row.waitMs) >= ms * leastShare);
}

/** The longest waits of a stage, in seconds, for example `fetch 1.50, parse 0.22`. */
function waitsOf({ waitedFor }: StageRow): string {
  return Object.entries(waitedFor)
    .filter(([, ms]) => ms >= leastShownMs)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, shownWaits)
    .map(([name, ms]) => `${name} ${seconds(ms)}`)
    .join(', ');
}

/** The sums as aligned lines of text, followed by the sums of processes. */
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

/** The cells of a row. The name comes first, then a text for each other head. A text is empty if there is no value. */
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
