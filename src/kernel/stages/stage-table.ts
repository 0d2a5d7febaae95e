import type { StageRow } from './stage-recorder.ts';

/** Stages that a stage waited for most: the rest is small. */
const shownWaits = 3;
/** Milliseconds: shorter waits are not shown. */
const leastShownMs = 5;

/** The sums as aligned lines of text, in seconds and megabytes. */
export function stageTable(rows: readonly StageRow[]): string {
  const heads = ['stage', 'times', 'seconds', 'processor', 'waiting', 'MB', 'rows', 'waited for'];
  const lines = [heads, ...rows.map(cells)];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => {
          const isText = column === 0 || column === heads.length - 1;
          return isText ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cells({ stage, count, ms, cpuMs, waitMs, bytes, rows, waitedFor }: StageRow): string[] {
  const waits = Object.entries(waitedFor)
    .filter(([, waitedMs]) => waitedMs >= leastShownMs)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, shownWaits)
    .map(([name, waitedMs]) => `${name} ${seconds(waitedMs)}`);
  return [
    stage,
    String(count),
    seconds(ms),
    cpuMs === null ? '' : seconds(cpuMs),
    waitMs === 0 ? '' : seconds(waitMs),
    bytes === 0 ? '' : (bytes / 1e6).toFixed(1),
    rows === 0 ? '' : String(rows),
    waits.join(', '),
  ];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
