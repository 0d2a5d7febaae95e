import { setTimeout as pause } from 'node:timers/promises';
import type { Asker } from '#kernel/contracts/asker.ts';

/**
 * Maximum number of refusals per second that one client gets without a pause. It is enough for a page with all its
 * pictures.
 */
const freeRefusals = 20;
/** How long each refusal after the first `freeRefusals` waits, in ms. It is half the time in Retry-After. */
const pauseMs = 1_000;

/**
 * Delays refusals to clients that ignore them. A refusal takes half a millisecond. If a client repeated its requests
 * immediately on all its connections, it would take all the time of the event loop. With the pause, the number of its
 * connections limits the client to some hundred refusals per second.
 */
export class RefusalPace {
  /** Number of refusals since `#sinceMs`, by client. */
  readonly #refused = new Map<string, number>();
  #sinceMs = performance.now();

  /**
   * Waits if the client was refused too often within the current second. The wait ends early if the client disconnects.
   */
  async wait({ client, signal }: Asker): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#sinceMs >= 1_000) {
      this.#refused.clear();
      this.#sinceMs = nowMs;
    }
    const refused = (this.#refused.get(client) ?? 0) + 1;
    this.#refused.set(client, refused);
    if (refused > freeRefusals) await pause(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
