import { setTimeout as pause } from 'node:timers/promises';
import type { Asker } from '#kernel/contracts/asker.ts';

/** Maximum number of refusals per second that one client gets at once: enough for a page with all its pictures. */
const freeRefusals = 20;
/** How long each further refusal waits, in ms. It is half the time in Retry-After. */
const pauseMs = 1_000;

/**
 * Delays refusals to clients that ignore them. A refusal takes half a millisecond, so a client that repeats its
 * requests at once on all its connections would take the whole event loop. With the pause, the number of its
 * connections limits the client to some hundred refusals per second.
 */
export class RefusalPace {
  /** Refusals since `#sinceMs`, by client. */
  readonly #refused = new Map<string, number>();
  #sinceMs = performance.now();

  /** Waits if the client was refused too often within this second. The wait ends early if the client disconnects. */
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
