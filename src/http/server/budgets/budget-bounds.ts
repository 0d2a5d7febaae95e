import { limits } from '../limits.ts';
import type { ReadingPace } from './slow-readers.ts';

/** Limits of a process for all clients together, and for each client. */
export interface Budgets {
  readonly connections: number;
  readonly connectionsEach: number;
  readonly unsentBytes: number;
  readonly unsentBytesEach: number;
  /** Maximum number of requests being answered. A request counts from the end of its body until its answer is made. */
  readonly requests: number;
  readonly requestsEach: number;
  /** How long a request waits for other requests to end, at most, in ms. */
  readonly requestWaitMs: number;
  readonly pace: ReadingPace;
  /** Pace that clients must read at while unsent bytes take much memory. */
  readonly pressedPace: ReadingPace;
}

export const usualBudgets: Budgets = {
  ...limits,
  pace: { patienceMs: limits.readPatienceMs, rate: limits.readRate },
  pressedPace: { patienceMs: limits.pressedReadPatienceMs, rate: limits.pressedReadRate },
};
