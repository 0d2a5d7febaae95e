import { setTimeout as sleep } from 'node:timers/promises';

/** Short compared to the work for a block at the tip; it is the most that it delays one. */
const lookEveryMs = 50;

/** Whether the writer of this process is applying blocks: background work waits for them. */
export class WriterActivity {
  #isBusy = false;

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Busy while `work` runs. */
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
