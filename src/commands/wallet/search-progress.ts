import type { ProgressOutput } from '#src/app/reports/progress.ts';
import { type ProgressLines, progressBar, progressLines } from '#src/commands/progress-lines.ts';
import type { CompareProgress, SearchProgress } from '#wallet/restoring/find-outputs.ts';

type State = SearchProgress | CompareProgress;

/**
 * Shows the progress of a search. On a terminal it redraws one bar for each state. Otherwise it adds new lines, like a
 * log.
 */
export const searchProgress = (output: ProgressOutput, now?: () => number): ProgressLines<State> =>
  progressLines(output, progressLine, now);

/** A line of progress, for example `[#####-----] 40 %, addresses from 200000 of 1000000, 12 outputs found`. */
export function progressLine(state: State): string {
  if ('compared' in state) {
    const { compared, of } = state;
    return `${progressBar(compared / of)} comparing --to with the addresses of the wallet: ${compared} of ${of}`;
  }
  const { searched, end, percent, found } = state;
  const scan = percent === null ? 'addresses are derived' : `${Math.floor(percent)} %`;
  // `end` is 0 during the first scans, because they are for addresses without an index of their own
  const range = end === 0 ? '' : `, addresses from ${searched} of ${end}`;
  return `${progressBar((percent ?? 0) / 100)} ${scan}${range}, ${found} outputs found`;
}
