import { errorsOf, type Measured, waitsOf } from './verdict.ts';

export interface Result {
  readonly measured: Measured;
  /** The reasons why the scenario is lost. Empty if the scenario is withstood. */
  readonly faults: readonly string[];
}

const columns = [
  ['scenario', 20],
  ['look-ups p50/p99', 17],
  ['searches p50/p99', 17],
  ['pages p99', 10],
  ['errors', 7],
  ['loop p99/max', 13],
  ['memory', 8],
  ['again', 7],
  ['attacker got', 34],
  ['verdict', 0],
] as const;

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, index) => cell.padEnd(columns[index]?.[1] ?? 0))
    .join(' ')
    .trimEnd();

export const headLine = line(columns.map(([name]) => name));

/** One line of the table. Times are in milliseconds, and memory is in MB. */
export function resultLine({ measured, faults }: Result): string {
  const { answers, probe, peakBytes, recoveryMs, tally } = measured;
  const lookups = waitsOf(answers, ['lookup']);
  const searches = waitsOf(answers, ['search']);
  const errors = Object.values(errorsOf(answers)).reduce((sum, count) => sum + count, 0);
  return line([
    measured.scenario,
    `${shown(lookups.p50Ms)} / ${shown(lookups.p99Ms)}`,
    `${shown(searches.p50Ms)} / ${shown(searches.p99Ms)}`,
    shown(waitsOf(answers, ['page']).p99Ms),
    String(errors),
    probe === null ? '–' : `${shown(probe.loopP99Ms)} / ${shown(probe.loopMaxMs)}`,
    `${shown(peakBytes / 1e6)} MB`,
    recoveryMs === null ? '–' : `${(recoveryMs / 1000).toFixed(1)} s`,
    Object.entries(tally)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', '),
    faults.length === 0 ? 'withstood' : `FAILED ${faults.join('; ')}`,
  ]);
}

const shown = (value: number): string => Math.round(value).toLocaleString('en');

/** One line of JSON for each scenario. */
export function resultJson({ measured, faults }: Result): string {
  const { scenario, answers, probe, peakBytes, recoveryMs, tally, isAlive } = measured;
  const lookup = waitsOf(answers, ['lookup']);
  const search = waitsOf(answers, ['search']);
  const page = waitsOf(answers, ['page']);
  const stream = waitsOf(answers, ['stream']);
  return JSON.stringify({
    scenario,
    withstood: faults.length === 0,
    faults,
    good: { lookup, search, page, stream, errors: errorsOf(answers) },
    probe,
    peakBytes,
    recoveryMs,
    attacker: tally,
    isAlive,
  });
}
