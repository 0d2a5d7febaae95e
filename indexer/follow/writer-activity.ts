import { setTimeout as sleep } from 'node:timers/promises';

/** Short beside a block at the tip, which is what it delays at most. */
const lookEveryMs = 50;

/** Whether the writer of this process has blocks on their way: background work waits for them. */
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

  /** Settles when no blocks are on their way. Throws the reason of the signal. */
  async idle(signal: AbortSignal): Promise<void> {
    while (this.#isBusy) await sleep(lookEveryMs, undefined, { signal });
    signal.throwIfAborted();
  }
}
