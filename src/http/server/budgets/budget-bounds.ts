import { limits } from '../limits.ts';
import type { ReadingPace } from './slow-readers.ts';

/** Bounds of what all clients together, and each of them, may use of a process. */
export interface Budgets {
  readonly connections: number;
  readonly connectionsEach: number;
  readonly unsentBytes: number;
  readonly unsentBytesEach: number;
  /** Maximum number of requests being answered. A request counts from the end of its body until its answer is made. */
  readonly requests: number;
  readonly requestsEach: number;
  /** Maximum time that a request waits for other requests to end, in ms. */
  readonly requestWaitMs: number;
  readonly pace: ReadingPace;
  /** Required pace of readers while unsent bytes take much memory. */
  readonly pressedPace: ReadingPace;
}

export const usualBudgets: Budgets = {
  ...limits,
  pace: { patienceMs: limits.readPatienceMs, rate: limits.readRate },
  pressedPace: { patienceMs: limits.pressedReadPatienceMs, rate: limits.pressedReadRate },
};
