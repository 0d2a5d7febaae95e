import assert from 'node:assert/strict';
import { AppError } from '#kernel/errors/app-error.ts';

/** The part of the room that a request holds, until it releases it. */
export interface HeldRoom {
  /** Takes more room. Throws `bodies_busy` if there is none; the request then keeps what it held. */
  grow(bytes: number): void;
  /** May be called several times. */
  release(): void;
}

/** Bounds all large bodies of the process together. There is no queue: a client without room must try again. */
export class BodyRoom {
  readonly #maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Starts with nothing held. */
  hold(): HeldRoom {
    let heldBytes = 0;
    let isReleased = false;
    return {
      grow: (bytes) => {
        assert(bytes >= 0 && !isReleased, 'room is taken for a request that is under way');
        if (this.#usedBytes + bytes > this.#maxBytes) {
          throw new AppError(
            'bodies_busy',
            'too many large bodies are sent at once: try again in a few seconds',
          );
        }
        heldBytes += bytes;
        this.#usedBytes += bytes;
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#usedBytes -= heldBytes;
        assert(this.#usedBytes >= 0, 'no more room is given back than was taken');
      },
    };
  }
}
