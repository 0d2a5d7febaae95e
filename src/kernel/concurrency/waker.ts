import { pause } from '#kernel/retry.ts';

/** Remembers a notification until someone waits for it. */
export class Waker {
  #isWoken = false;
  #wake: (() => void) | null = null;

  wake(): void {
    this.#isWoken = true;
    this.#wake?.();
  }

  /** Resolves when woken, immediately if that happened since the last wait, and after `timeoutMs` at the latest. */
  async wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#isWoken && !signal.aborted) {
      const controller = new AbortController();
      this.#wake = () => controller.abort();
      await pause(timeoutMs, AbortSignal.any([signal, controller.signal]));
      this.#wake = null;
    }
    this.#isWoken = false;
  }
}
