import { HeldByClient } from '#kernel/concurrency/held-by-client.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

export interface UnsentBounds {
  /** Bytes of all clients. */
  readonly total: number;
  /** Bytes of one client. */
  readonly each: number;
}

/** Share of all bytes above which slow readers are disconnected sooner, and a client with unsent bytes gets no more. */
const pressedShare = 0.5;
/** Share above which no large answer may start: those that are being made still need room. */
const fullShare = 0.9;

/**
 * Bytes of answers that were made and not yet taken by their clients, of the process and of each client. An answer
 * counts whole until it is sent or abandoned.
 */
export class UnsentBytes {
  readonly #bounds: UnsentBounds;
  readonly #held = new HeldByClient();

  constructor(bounds: UnsentBounds) {
    this.#bounds = bounds;
  }

  /** Waiting bytes, and their limit. */
  get state(): QueueState {
    return { length: this.#held.total, limit: this.#bounds.total };
  }

  get isPressed(): boolean {
    return this.#held.total > pressedShare * this.#bounds.total;
  }

  /**
   * Throws if an answer should not even start: `too_many_at_once` if its client must first take others, and
   * `answers_busy` for a large one if all clients together have too many unsent bytes.
   */
  check({ client }: Asker, isLarge: boolean): void {
    const { total, each } = this.#bounds;
    const own = this.#held.of(client);
    if (own >= each) throw tooMuch(own);
    if (!isLarge) return;
    if (this.#held.total > fullShare * total || (own > 0 && this.isPressed)) throw busy();
  }

  /**
   * Counts an answer until it is sent or abandoned. Throws as `check` if there is no room for it. A single answer
   * always has room if there are no others: its size is limited elsewhere.
   */
  hold(asker: Asker, bytes: number): void {
    const { client } = asker;
    const { total, each } = this.#bounds;
    const own = this.#held.of(client);
    if (own > 0 && own + bytes > each) throw tooMuch(own);
    if (this.#held.total > 0 && this.#held.total + bytes > total) throw busy();
    this.#held.add(client, bytes);
    asker.whenOut(() => this.#held.add(client, -bytes));
  }
}

function tooMuch(own: number): AppError {
  return new AppError(
    'too_many_at_once',
    `${own} bytes of earlier answers wait for you: take them before you ask for more`,
  );
}

function busy(): AppError {
  return new AppError('answers_busy', 'too many answers wait for slow clients: try again in a few seconds');
}
