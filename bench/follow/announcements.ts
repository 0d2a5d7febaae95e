import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { displayHash } from '#kernel/primitives/hash.ts';

/** A message of the thread that hears the node. */
export interface Announcement {
  /** Hash of the block, as people write it. */
  readonly hash: string;
  /** The time of the message on the clock of `now`. */
  readonly at: number;
}

/** The time in ms, on a clock that all threads share. The clock of `performance` begins with its own thread. */
export const now = (): number => performance.timeOrigin + performance.now();

/**
 * The times at which the node announced its blocks. A thread hears the node, because the bench itself may be busy at
 * that moment, and would then begin to count too late.
 */
export class Announcements {
  readonly #thread: Worker;
  readonly #at = new Map<string, number>();

  private constructor(thread: Worker) {
    this.#thread = thread;
    thread.on('message', ({ hash, at }: Announcement) => this.#at.set(hash, at));
  }

  /** Hears the node at this address of ZMQ. Settles when the thread listens. */
  static async of(url: string): Promise<Announcements> {
    const thread = new Worker(new URL('./announcements.worker.ts', import.meta.url), { workerData: url });
    await once(thread, 'message');
    return new Announcements(thread);
  }

  /** The time of a block's announcement. Waits for it. */
  async of(block: Uint8Array): Promise<number> {
    const name = displayHash(block);
    for (;;) {
      const at = this.#at.get(name);
      if (at !== undefined) return at;
      await delay(1);
    }
  }

  /** Ends the thread by a message, because a socket of ZMQ must be closed before its thread ends. */
  async close(): Promise<void> {
    const ended = once(this.#thread, 'exit');
    this.#thread.postMessage('close');
    await ended;
  }
}
