import assert from 'node:assert/strict';
import { AppError } from '#kernel/errors/app-error.ts';

/** What a request holds of the room, until it gives it back. */
export interface HeldRoom {
  /** Takes more for it. Throws `bodies_busy` where there is none, and then holds what it held. */
  grow(bytes: number): void;
  /** Once or more. */
  release(): void;
}

/** The bound on all large bodies that are in the process at once. Nothing waits: who finds no room comes again. */
export class BodyRoom {
  readonly #maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Holds nothing yet. */
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
