import type { AttackTally, GoodAnswer, QuestionKind } from './clients/messages.ts';
import type { ProbeSample } from './service/probe.ts';

/** Allowed effects of a scenario on other clients. */
export interface Bounds {
  /** 99th percentile of the time that the good client waits for an answer, by kind of request. */
  readonly waitMs: Readonly<Record<QuestionKind, number>>;
  readonly memoryBytes: number;
  readonly recoveryMs: number;
}

export const bounds: Bounds = {
  waitMs: { lookup: 500, search: 2000, page: 2000, stream: 2000 },
  // a process with a heap of 1 GB dies if its memory is somewhat above this bound
  memoryBytes: 900e6,
  recoveryMs: 5000,
};

/**
 * Bounds for a suite whose tests run at the same time. Times say nothing in such a suite. A broken service fails or
 * never recovers.
 */
export const timelessBounds: Bounds = {
  waitMs: {
    lookup: Number.POSITIVE_INFINITY,
    search: Number.POSITIVE_INFINITY,
    page: Number.POSITIVE_INFINITY,
    stream: Number.POSITIVE_INFINITY,
  },
  memoryBytes: bounds.memoryBytes,
  recoveryMs: Number.POSITIVE_INFINITY,
};

/** Measurements of a scenario. */
export interface Measured {
  readonly scenario: string;
  /** Answers to requests that the good client sent during the attack. */
  readonly answers: readonly GoodAnswer[];
  /** Null if the process did not answer. */
  readonly probe: ProbeSample | null;
  readonly peakBytes: number;
  /**
   * Time from the end of the attack until the good client is served as before. `null` if this did not happen in the
   * given time.
   */
  readonly recoveryMs: number | null;
  readonly tally: AttackTally;
  readonly isAlive: boolean;
}

export interface Wait {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export function waitsOf(answers: readonly GoodAnswer[], kinds: readonly QuestionKind[]): Wait {
  const sorted = answers
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ milliseconds }) => milliseconds)
    .sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}

export const isError = ({ outcome }: GoodAnswer): boolean =>
  typeof outcome === 'string' || outcome < 200 || outcome > 399;

/** Whether the good client got a good answer within the bound. */
export const isGood = (answer: GoodAnswer, { waitMs }: Bounds): boolean =>
  !isError(answer) && answer.milliseconds <= waitMs[answer.kind];

/** Number of the good client's errors by kind of request and outcome, such as `search 503`. */
export function errorsOf(answers: readonly GoodAnswer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    if (!isError(answer)) continue;
    const name = `${answer.kind} ${answer.outcome}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/**
 * Whether a status is a fault of the service. 503 says that there is no room, so an attacker may get it. Any other 5xx
 * is a fault.
 */
const isFault = (status: string): boolean => /^5\d\d$/u.test(status) && status !== '503';

/** The reasons why a scenario is lost. Empty if the scenario is withstood. */
export function faultsOf(measured: Measured, limits: Bounds): string[] {
  const { answers, tally, peakBytes, recoveryMs } = measured;
  const faults: string[] = [];
  if (!measured.isAlive) faults.push('the process died');
  for (const [kind, waitMs] of Object.entries(limits.waitMs) as [QuestionKind, number][]) {
    const { p99Ms } = waitsOf(answers, [kind]);
    if (p99Ms > waitMs) faults.push(`p99 of ${kind}: ${Math.round(p99Ms)} ms`);
  }
  for (const [name, count] of Object.entries(errorsOf(answers))) faults.push(`${count} × ${name}`);
  for (const [status, count] of Object.entries(tally)) {
    if (isFault(status)) faults.push(`${count} × ${status} for the attacker`);
  }
  if (peakBytes > limits.memoryBytes) faults.push(`memory ${Math.round(peakBytes / 1e6)} MB`);
  if (measured.isAlive && (recoveryMs === null || recoveryMs > limits.recoveryMs)) {
    faults.push(
      recoveryMs === null ? 'not normal again' : `normal again after ${(recoveryMs / 1000).toFixed(1)} s`,
    );
  }
  return faults;
}

/**
 * How long it must be quiet after the last bad answer, in ms. The good client sends every kind of request in this time.
 */
const quietMs = 1500;
const answersOfQuiet = 20;

/**
 * How long an attack was felt after its end: the time until the last bad answer. Null while the attack may still be
 * felt, because some good answers of every kind are needed to know this.
 */
export function recoveryOf(
  answers: readonly GoodAnswer[],
  endedAt: number,
  now: number,
  limits: Bounds,
): number | null {
  const after = answers.filter(({ startedAt }) => startedAt >= endedAt);
  const badEnds = after
    .filter((answer) => !isGood(answer, limits))
    .map(({ startedAt, milliseconds }) => startedAt + milliseconds);
  const goodFrom = Math.max(endedAt, ...badEnds);
  const since = after.filter(({ startedAt }) => startedAt >= goodFrom && startedAt <= now);
  return now - goodFrom >= quietMs && since.length >= answersOfQuiet ? goodFrom - endedAt : null;
}
