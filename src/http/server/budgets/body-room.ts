import assert from 'node:assert/strict';
import { HeldByClient } from '#kernel/concurrency/held-by-client.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

/** The part of the room that a request holds, until it releases it. */
export interface HeldRoom {
  /** Takes more room. Throws `bodies_busy` if there is not enough; the request then keeps what it held. */
  grow(bytes: number): void;
  /** May be called several times. */
  release(): void;
}

export interface BodyRoomSize {
  /** Room for all bodies together. */
  readonly totalBytes: number;
  /** Room for all bodies of one client. */
  readonly eachBytes: number;
}

/**
 * Bounds the memory of all request bodies of the process, and of each client's, so that no client takes all room. There
 * is no queue: a client without room must try again.
 */
export class BodyRoom {
  readonly #size: BodyRoomSize;
  readonly #used = new HeldByClient();

  constructor(size: BodyRoomSize) {
    this.#size = size;
  }

  get usedBytes(): number {
    return this.#used.total;
  }

  get state(): QueueState {
    return { length: this.#used.total, limit: this.#size.totalBytes };
  }

  /** Throws `bodies_busy` if there is no room for a body of this size now. */
  check(client: string, bytes: number): void {
    const { totalBytes, eachBytes } = this.#size;
    if (this.#used.total + bytes <= totalBytes && this.#used.of(client) + bytes <= eachBytes) return;
    throw new AppError('bodies_busy', 'too many large bodies are being sent: try again in a few seconds');
  }

  /** Starts with nothing held. */
  hold(client: string): HeldRoom {
    let heldBytes = 0;
    let isReleased = false;
    return {
      grow: (bytes) => {
        assert(bytes >= 0 && !isReleased, 'room is taken for a request that is under way');
        this.check(client, bytes);
        heldBytes += bytes;
        this.#used.add(client, bytes);
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#used.add(client, -heldBytes);
      },
    };
  }
}
