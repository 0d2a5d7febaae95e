import type { AppError } from '#kernel/errors/app-error.ts';
import { isNodeAway } from '#kernel/errors/node-away.ts';

/** Reports of the outages of a node that answered before. */
export interface AwayReports {
  /** Called if no call was answered for a while. Called again only if the reason changes. */
  readonly onAway: (failure: AppError) => void;
  /** Called when the node answers again. */
  readonly onBack: (awaySeconds: number) => void;
}

/**
 * Minimum duration of an outage, in ms. During an outage, all calls fail. A single call may fail because its answer
 * takes too long, or because the node restarts within a second.
 */
const outageMs = 1000;

/** Detects outages of a node from the results of all calls to it, from any part of the process. */
export class NodeAway {
  readonly #reports: AwayReports;
  readonly #now: () => number;
  #failedAt: number | null = null;
  #told: string | null = null;

  constructor(reports: AwayReports, now: () => number = () => performance.now()) {
    this.#reports = reports;
    this.#now = now;
  }

  /** Receives the failure of a call, or null if the call was answered. A refused call was answered, too. */
  result(failure: AppError | null): void {
    if (failure === null || !isNodeAway(failure.code)) {
      const since = this.#failedAt;
      this.#failedAt = null;
      if (this.#told === null || since === null) return;
      this.#told = null;
      this.#reports.onBack((this.#now() - since) / 1000);
      return;
    }
    this.#failedAt ??= this.#now();
    if (failure.code === this.#told || this.#now() - this.#failedAt < outageMs) return;
    this.#told = failure.code;
    this.#reports.onAway(failure);
  }
}
