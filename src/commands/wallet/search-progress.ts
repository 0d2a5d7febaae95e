import type { ProgressOutput } from '#src/app/reports/progress.ts';
import type { CompareProgress, SearchProgress } from '#wallet/restoring/find-outputs.ts';

const barWidth = 28;
/** At most one line in this time where it is no terminal: a scan takes minutes. */
const lineEveryMs = 10_000;

type State = SearchProgress | CompareProgress;

/** A bar on a terminal, redrawn with each state; elsewhere lines, whatever is logged. */
export function searchProgress(
  output: ProgressOutput,
  now: () => number = () => performance.now(),
): { update(state: State): void; finish(): void } {
  let isDrawn = false;
  let writtenAt = -Infinity;
  return {
    update: (state) => {
      if (output.isTTY === true) {
        isDrawn = true;
        output.write(`\r\u001b[2K${progressLine(state)}`);
      } else if (now() - writtenAt >= lineEveryMs) {
        writtenAt = now();
        output.write(`${progressLine(state)}\n`);
      }
    },
    finish: () => {
      if (isDrawn) output.write('\n');
      isDrawn = false;
    },
  };
}

/** `[#####-----] 40 %, addresses from 200000 of 1000000, 12 outputs found` */
export function progressLine(state: State): string {
  if ('compared' in state) {
    const { compared, of } = state;
    return `${barOf(compared / of)} --to is compared with address ${compared} of ${of} of the wallet`;
  }
  const { searched, end, percent, found } = state;
  const scan = percent === null ? 'addresses are derived' : `${Math.floor(percent)} %`;
  // unknown during the first scans, which are of addresses without an index of their own
  const range = end === 0 ? '' : `, addresses from ${searched} of ${end}`;
  return `${barOf((percent ?? 0) / 100)} ${scan}${range}, ${found} outputs found`;
}

function barOf(share: number): string {
  const full = Math.round(share * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
}
