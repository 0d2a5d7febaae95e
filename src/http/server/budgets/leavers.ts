import { setImmediate as oneTurn, setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Asker } from '#kernel/contracts/asker.ts';

/**
 * Maximum number of clients that are remembered, 100 bytes each: only those with ended requests are, and few of them
 * leave.
 */
const clientsMax = 10_000;
/**
 * Milliseconds after which an ended request counts for about a third, so that a client that stops leaving is soon
 * served at once.
 */
const forgetMs = 5_000;
/**
 * Abandoned requests within that time after which a client's next ones wait. A reader who clicks to the next page
 * leaves fewer.
 */
const leftMin = 5;
/**
 * Longest wait in milliseconds. Others at the same address would notice more, and a client that stays this long is
 * served.
 */
const waitMaxMs = 50;
/**
 * Milliseconds of a turn of the event loop that reads arrived data: data in the operating system is not noticed before.
 */
const waitMinMs = 4;

interface Known {
  /** Requests that ended; the other count has those whose client left before the answer began. Both fade. */
  readonly ended: number;
  readonly left: number;
  /** Average time that a client stayed before it left. */
  readonly staysMs: number;
  readonly atMs: number;
}

/**
 * Clients that ask and leave before any answer. Work for them is wasted, and a reset connection is only noticed after
 * the first statements of its request were sent. So the requests of a client that leaves most of its own wait before
 * any work starts, twice as long as it used to stay: if it leaves again, no work was wasted.
 */
export class Leavers {
  readonly #known = new LRUCache<string, Known>({ max: clientsMax });

  /**
   * Records that a request of a client ended. `staysMs`: time until its client left before the answer began; null if it
   * stayed.
   */
  ended(client: string, staysMs: number | null, nowMs = performance.now()): void {
    const before = this.#known.get(client);
    // most clients never leave, and are not remembered
    if (before === undefined && staysMs === null) return;
    const { ended, left, staysMs: stays } = faded(before, nowMs);
    const isLeft = staysMs !== null;
    this.#known.set(client, {
      ended: ended + 1,
      left: left + (isLeft ? 1 : 0),
      staysMs: isLeft ? (left * stays + staysMs) / (left + 1) : stays,
      atMs: nowMs,
    });
  }

  /** Milliseconds that the next request of a client waits: 0 unless it leaves most of its requests. */
  waitMs(client: string, nowMs = performance.now()): number {
    const known = this.#known.get(client);
    if (known === undefined) return 0;
    const { ended, left, staysMs } = faded(known, nowMs);
    if (left < leftMin || left * 2 <= ended) return 0;
    return Math.min(waitMaxMs, Math.max(waitMinMs, 2 * staysMs));
  }

  /** Waits if the client leaves most of its requests. Throws the reason of its signal once it has left. */
  async wait({ client, signal }: Asker): Promise<void> {
    const waitMs = this.waitMs(client);
    if (waitMs === 0) return;
    await pause(waitMs, undefined, { signal }).catch(() => undefined);
    // after a long turn the timer fires first, and arrived data is read after it
    if (!signal.aborted) await oneTurn();
    signal.throwIfAborted();
  }
}

const nothing: Known = { ended: 0, left: 0, staysMs: 0, atMs: 0 };

function faded(known: Known | undefined, nowMs: number): Known {
  if (known === undefined) return nothing;
  const share = Math.exp(-Math.max(0, nowMs - known.atMs) / forgetMs);
  return { ...known, ended: known.ended * share, left: known.left * share };
}
