import type { Socket } from 'node:net';

/** The rate at which clients must take their answers. */
export interface ReadingPace {
  /** How long bytes may wait before the rate is checked, in ms. */
  readonly patienceMs: number;
  /** Required average in bytes per second, from the moment when bytes began to wait. */
  readonly rate: number;
}

/** Time when bytes of a connection began to wait, and the number of bytes that its client had taken before. */
interface Wait {
  readonly sinceMs: number;
  readonly takenBefore: number;
}

/**
 * Finds clients that do not take their answers. Each check compares the required rate with the bytes that a connection
 * took since bytes began to wait on it. Bytes in the operating system's buffers count as taken, because they are some
 * megabytes at most, and not in our memory.
 */
export class SlowReaders {
  readonly #waits = new WeakMap<Socket, Wait>();

  /** Finds the connections that are too slow now. Call it about once per second. */
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
