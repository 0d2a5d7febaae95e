import { setImmediate as oneTurn, setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Asker } from '#kernel/contracts/asker.ts';

/** Clients that are remembered, 100 bytes each: only those whose requests end are, and few of them leave. */
const clientsMax = 10_000;
/** Time after which a request that ended counts for about a third: who stops leaving is soon served at once. */
const forgetMs = 5_000;
/** Requests that a client leaves within that time before its next ones wait: a reader who clicks on leaves fewer. */
const leftMin = 5;
/** Waits beyond this would be felt by others behind the same address, and a client that stays so long is served. */
const waitMaxMs = 50;
/** A turn of the event loop that reads what came: what the operating system has is not noticed before. */
const waitMinMs = 4;

interface Known {
  /** Requests that ended, and those of them whose client left before the answer began. Both fade. */
  readonly ended: number;
  readonly left: number;
  /** How long a client that left stayed, on average. */
  readonly staysMs: number;
  readonly atMs: number;
}

/**
 * Clients that ask and leave before anything is answered. Work for them is thrown away, and a request that is reset at
 * once is only noticed after its first statements were sent. So the requests of a client that leaves most of its own
 * wait, twice as long as it used to stay, before anything is done for them: if it leaves again, nothing was.
 */
export class Leavers {
  readonly #known = new LRUCache<string, Known>({ max: clientsMax });

  /** A request of a client ended. `staysMs`: until its client left before the answer began; null: it did not. */
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

  /** Waits where a client leaves most of its requests. Throws the reason of its signal once it has left. */
  async wait({ client, signal }: Asker): Promise<void> {
    const waitMs = this.waitMs(client);
    if (waitMs === 0) return;
    await pause(waitMs, undefined, { signal }).catch(() => undefined);
    // after a long turn the timer comes first, and then what was read meanwhile
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
