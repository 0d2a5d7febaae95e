import assert from 'node:assert/strict';
import { HeldByClient } from '#kernel/concurrency/held-by-client.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

/** Memory that a request holds until it calls `release`. */
export interface HeldRoom {
  /**
   * Takes more memory for the request. Throws `bodies_busy` if there is not enough memory left. The request then keeps
   * the memory that it already holds.
   */
  grow(bytes: number): void;
  /** Frees the memory of the request. May be called several times. */
  release(): void;
}

export interface BodyRoomSize {
  /** Maximum number of bytes of all bodies together. */
  readonly totalBytes: number;
  /** Maximum number of bytes of all bodies of one client. */
  readonly eachBytes: number;
}

/**
 * Bounds the memory of all request bodies of the process, and of the bodies of each client, so that no client takes all
 * memory. There is no queue, so a refused client must retry.
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

  /** Throws `bodies_busy` if there is not enough memory left for a body of this size. */
  check(client: string, bytes: number): void {
    const { totalBytes, eachBytes } = this.#size;
    if (this.#used.total + bytes <= totalBytes && this.#used.of(client) + bytes <= eachBytes) return;
    throw new AppError('bodies_busy', 'too many large bodies are being sent; try again in a few seconds');
  }

  /** Begins to count a request. It holds no memory until it calls `grow`. */
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
