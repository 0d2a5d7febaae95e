import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How often waiting background work checks for blocks, in ms. This is the longest delay of that work after a block. It
 * is short compared to the work for a block at the tip.
 */
const lookEveryMs = 50;

/** Whether the writer of this process is applying blocks. Background work waits meanwhile. */
export class WriterActivity {
  #isBusy = false;

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Runs `work`. The writer is busy meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }

  /** Resolves when blocks are being applied, after `mostMs` at the latest. Throws the reason of the signal. */
  async begun(signal: AbortSignal, mostMs: number): Promise<void> {
    const end = performance.now() + mostMs;
    while (!this.#isBusy && performance.now() < end) await sleep(lookEveryMs, undefined, { signal });
    signal.throwIfAborted();
  }

  /** Resolves when no blocks are being applied, after `mostMs` at the latest. Throws the reason of the signal. */
  async idle(signal: AbortSignal, mostMs = Number.POSITIVE_INFINITY): Promise<void> {
    const end = performance.now() + mostMs;
    while (this.#isBusy && performance.now() < end) await sleep(lookEveryMs, undefined, { signal });
    signal.throwIfAborted();
  }
}
