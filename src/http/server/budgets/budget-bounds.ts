import { limits } from '../limits.ts';
import type { ReadingPace } from './slow-readers.ts';

/** Bounds of what all clients together, and each of them, may use of a process. */
export interface Budgets {
  readonly connections: number;
  readonly connectionsEach: number;
  readonly unsentBytes: number;
  readonly unsentBytesEach: number;
  /** Requests being answered: from the end of the body until the answer is made. */
  readonly requests: number;
  readonly requestsEach: number;
  /** The longest wait for a place, in milliseconds. */
  readonly requestWaitMs: number;
  readonly pace: ReadingPace;
  /** Pace of readers while unsent bytes take much memory. */
  readonly pressedPace: ReadingPace;
}

export const usualBudgets: Budgets = {
  ...limits,
  pace: { patienceMs: limits.readPatienceMs, rate: limits.readRate },
  pressedPace: { patienceMs: limits.pressedReadPatienceMs, rate: limits.pressedReadRate },
};
