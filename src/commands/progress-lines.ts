import type { ProgressOutput } from '#src/app/reports/progress.ts';

const barWidth = 28;
/** Minimum time between two lines, in ms, if the output is not a terminal. The work takes minutes. */
const lineEveryMs = 10_000;

/** Shows progress while work takes minutes. */
export interface ProgressLines<State> {
  update(state: State): void;
  /** Ends the line. */
  finish(): void;
}

/** Shows progress. On a terminal it redraws one line for each state. Otherwise it adds new lines, like a log. */
export function progressLines<State>(
  output: ProgressOutput,
  lineOf: (state: State) => string,
  now: () => number = () => performance.now(),
): ProgressLines<State> {
  let isDrawn = false;
  let writtenAt = -Infinity;
  return {
    update: (state) => {
      if (output.isTTY === true) {
        isDrawn = true;
        output.write(`\r\u001b[2K${lineOf(state)}`);
      } else if (now() - writtenAt >= lineEveryMs) {
        writtenAt = now();
        output.write(`${lineOf(state)}\n`);
      }
    },
    finish: () => {
      if (isDrawn) output.write('\n');
      isDrawn = false;
    },
  };
}

/** `[#####-----]` */
export function progressBar(share: number): string {
  const full = Math.round(Math.min(1, share) * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
}
