import type { Socket } from 'node:net';

/** How fast clients must take what is sent to them. */
export interface ReadingPace {
  /** Bytes may wait this long, in milliseconds, before their rate counts. */
  readonly patienceMs: number;
  /** Bytes per second, on average since they began to wait. */
  readonly rate: number;
}

/** When bytes of a connection began to wait, and what it had taken by then. */
interface Wait {
  readonly sinceMs: number;
  readonly takenBefore: number;
}

/**
 * Finds clients that do not take their answers. Each look compares how many bytes a connection took since bytes began
 * to wait on it with the rate that is asked for. What the operating system holds counts as taken: that is some
 * megabytes at most, and not our memory.
 */
export class SlowReaders {
  readonly #waits = new WeakMap<Socket, Wait>();

  /** Those of the connections that are too slow now. Call it about once a second. */
  find(sockets: Iterable<Socket>, { patienceMs, rate }: ReadingPace, nowMs = performance.now()): Socket[] {
    const slow: Socket[] = [];
    for (const socket of sockets) {
      const unsent = socket.writableLength;
      const taken = socket.bytesWritten - unsent;
      const wait = this.#waits.get(socket);
      if (unsent === 0 || wait === undefined) {
        this.#waits.set(socket, { sinceMs: nowMs, takenBefore: taken });
        continue;
      }
      const spentMs = nowMs - wait.sinceMs;
      if (spentMs >= patienceMs && (taken - wait.takenBefore) * 1000 < rate * spentMs) slow.push(socket);
    }
    return slow;
  }
}
