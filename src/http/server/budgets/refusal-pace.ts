import { setTimeout as pause } from 'node:timers/promises';
import type { Asker } from '#kernel/contracts/asker.ts';

/** Refusals of one client that are answered at once in a second: a page with all its pictures. */
const freeRefusals = 20;
/** Milliseconds that further refusals wait: half the time in Retry-After. */
const pauseMs = 1_000;

/**
 * Delays refusals to clients that ignore them. A refusal takes half a millisecond: a client that asks again at once, on
 * all its connections, would take the whole event loop. With the pause, its connections limit it to some hundred
 * refusals a second.
 */
export class RefusalPace {
  /** Refusals since `#sinceMs`, by client. */
  readonly #refused = new Map<string, number>();
  #sinceMs = performance.now();

  /** Waits if the client was refused too often within this second, and is still connected. */
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
