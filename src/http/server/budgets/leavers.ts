import { setImmediate as oneTurn, setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Asker } from '#kernel/contracts/asker.ts';

/**
 * Maximum number of remembered clients. Each takes 100 bytes. Only clients that left a request are remembered, and few
 * clients leave.
 */
const clientsMax = 10_000;
/**
 * How long it takes until an ended request counts only about a third, in ms. So a client that no longer leaves its
 * requests is soon served without a wait.
 */
const forgetMs = 5_000;
/**
 * Number of recently abandoned requests that makes the client's next requests wait. A reader who clicks to the next
 * page abandons fewer requests.
 */
const leftMin = 5;
/**
 * How long a request waits at most, in ms. Other users of the same IP address would notice a longer wait. A client that
 * stays this long is served.
 */
const waitMaxMs = 50;
/**
 * How long a request waits at least, in ms. This includes a turn of the event loop that reads arrived data, because
 * only such a turn notices a disconnection.
 */
const waitMinMs = 4;

interface Known {
  /**
   * Number of ended requests. `left` counts ended requests whose client left before the answer began. Both numbers
   * decrease with time.
   */
  readonly ended: number;
  readonly left: number;
  /** Average time that the client stayed in abandoned requests. */
  readonly staysMs: number;
  readonly atMs: number;
}

/**
 * Clients that send requests and leave before the answer. Work for such a client is wasted, because a reset connection
 * is only noticed after the first statements of its request were sent. So if a client leaves most of its requests, its
 * next requests wait before any work starts. They wait twice as long as the client used to stay. If the client leaves
 * during this wait, no work is wasted.
 */
export class Leavers {
  readonly #known = new LRUCache<string, Known>({ max: clientsMax });

  /**
   * Records that a request of a client ended. `staysMs` is how long the client stayed before it left, or null if the
   * client stayed until the answer began.
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

  /** How long the next request of a client waits, in ms. It is 0 unless the client leaves most of its requests. */
  waitMs(client: string, nowMs = performance.now()): number {
    const known = this.#known.get(client);
    if (known === undefined) return 0;
    const { ended, left, staysMs } = faded(known, nowMs);
    if (left < leftMin || left * 2 <= ended) return 0;
    return Math.min(waitMaxMs, Math.max(waitMinMs, 2 * staysMs));
  }

  /** Waits if the client leaves most of its requests. Throws the reason of the signal if the client has left. */
  async wait({ client, signal }: Asker): Promise<void> {
    const waitMs = this.waitMs(client);
    if (waitMs === 0) return;
    await pause(waitMs, undefined, { signal }).catch(() => undefined);
    // after a long turn, the timer fires before arrived data is read, so wait for one more turn
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
