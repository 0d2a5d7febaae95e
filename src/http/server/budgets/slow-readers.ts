import type { Socket } from 'node:net';

/** The rate at which clients must receive their answers. */
export interface ReadingPace {
  /** How long bytes may wait before the rate is checked, in ms. */
  readonly patienceMs: number;
  /** Required average rate in bytes per second, since bytes began to wait. */
  readonly rate: number;
}

/** Time when bytes of a connection began to wait, and the number of bytes that the client had received before. */
interface Wait {
  readonly sinceMs: number;
  readonly takenBefore: number;
}

/**
 * Finds clients that do not receive their answers. Each check compares the required rate with the number of bytes that
 * a connection sent since bytes began to wait on it. Bytes in the operating system's buffers count as received, because
 * they are some megabytes at most, and do not take this process's memory.
 */
export class SlowReaders {
  readonly #waits = new WeakMap<Socket, Wait>();

  /** Finds the connections that are currently too slow. Call this about once per second. */
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
