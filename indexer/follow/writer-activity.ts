import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Interval of checks, and so the longest delay of background work for a block at the tip. Short compared to the work
 * for that block.
 */
const lookEveryMs = 50;

/** Whether the writer of this process is applying blocks: background work waits for them. */
export class WriterActivity {
  #isBusy = false;

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Runs `work`, and counts as busy meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }

  /** Resolves when no blocks are being applied. Throws the reason of the signal. */
  async idle(signal: AbortSignal): Promise<void> {
    while (this.#isBusy) await sleep(lookEveryMs, undefined, { signal });
    signal.throwIfAborted();
  }
}
