import { setTimeout as pause } from 'node:timers/promises';
import type { Asker } from '#kernel/contracts/asker.ts';

/** Refusals of one client in a second that are answered at once: a page with all its pictures. */
const freeRefusals = 20;
/** How long the others wait, in milliseconds; half of what Retry-After asks for. */
const pauseMs = 1_000;

/**
 * Answers refusals slowly to clients that do not heed them. A refusal takes half a millisecond: a client that asks
 * again at once, on all connections that it may have, would take the whole event loop. With the pause, its connections
 * bound it to some hundred refusals a second.
 */
export class RefusalPace {
  /** Refusals since `#sinceMs`, by client. */
  readonly #refused = new Map<string, number>();
  #sinceMs = performance.now();

  /** Waits where a client was refused too often within this second; not for a client that is gone. */
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
