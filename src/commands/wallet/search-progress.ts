import type { Logger } from '#kernel/reports/logger.ts';
import type { ProgressOutput } from '#src/app/reports/progress.ts';
import type { SearchProgress } from '#wallet/restoring/find-outputs.ts';

const barWidth = 28;
/** At most one log line in this time: a scan takes minutes. */
const lineEveryMs = 10_000;

/** A bar on a terminal, redrawn with each state; elsewhere log lines. */
export function searchProgress(
  output: ProgressOutput,
  log: Logger,
  now: () => number = () => performance.now(),
): { update(state: SearchProgress): void; finish(): void } {
  let isDrawn = false;
  let loggedAt = -Infinity;
  return {
    update: (state) => {
      if (output.isTTY === true) {
        isDrawn = true;
        output.write(`\r\u001b[2K${progressLine(state)}`);
      } else if (now() - loggedAt >= lineEveryMs) {
        loggedAt = now();
        log.info({ ...state }, 'unspent outputs are searched');
      }
    },
    finish: () => {
      if (isDrawn) output.write('\n');
    },
  };
}

/** `[#####-----] 40 %, addresses from 200000 of 1000000, 12 outputs found` */
export function progressLine({ searched, end, percent, found }: SearchProgress): string {
  const full = Math.round(((percent ?? 0) / 100) * barWidth);
  const bar = `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
  const scan = percent === null ? 'addresses are derived' : `${Math.floor(percent)} %`;
  return `${bar} ${scan}, addresses from ${searched} of ${end}, ${found} outputs found`;
}
