import type { BackupProgress } from '#backups/backup-progress.ts';
import type { ProgressOutput } from '#src/app/reports/progress.ts';
import { type ProgressLines, progressBar, progressLines } from '#src/commands/progress-lines.ts';
import { progressLine } from '#src/commands/wallet/search-progress.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import type { SearchProgress } from '#wallet/restoring/find-outputs.ts';

type State = BackupProgress | SearchProgress;

const steps = {
  tables: 'tables are written',
  files: 'files are copied',
  'check of tables': 'tables are checked',
  'check of files': 'files are checked',
  load: 'tables are loaded',
} as const satisfies Record<BackupProgress['step'], string>;

/** On a terminal one bar, redrawn with each state; elsewhere new lines, like a log. */
export const backupProgress = (output: ProgressOutput, now?: () => number): ProgressLines<State> =>
  progressLines(output, backupLine, now);

/** `[#####-----] 40 %, tables are written` */
export function backupLine(state: State): string {
  if (!('step' in state)) return progressLine(state);
  const { step, done, of } = state;
  const share = of === 0 ? 1 : Math.min(1, done / of);
  return `${progressBar(share)} ${Math.floor(share * 100)} %, ${steps[step]}`;
}

export const shownEnds = ({ orders, own, fees }: BranchEnds): string =>
  `${orders} of orders, ${own} of the service, ${fees} of fee charges`;

/** Bytes in MB with one decimal. */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
