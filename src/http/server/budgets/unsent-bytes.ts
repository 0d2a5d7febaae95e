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

/** Above this share of all bytes, slow readers are cut off sooner, and who has unsent bytes gets no more. */
const pressedShare = 0.5;
/** Above this share nobody begins a large answer: those that are being made still need room. */
const fullShare = 0.9;

/**
 * Bytes of answers that are made and that their clients have not taken yet, of the process and of each client. An
 * answer counts whole until it is out or given up.
 */
export class UnsentBytes {
  readonly #bounds: UnsentBounds;
  readonly #held = new HeldByClient();

  constructor(bounds: UnsentBounds) {
    this.#bounds = bounds;
  }

  /** Bytes that wait, and how many may. */
  get state(): QueueState {
    return { length: this.#held.total, limit: this.#bounds.total };
  }

  get isPressed(): boolean {
    return this.#held.total > pressedShare * this.#bounds.total;
  }

  /**
   * Throws where an answer should not even be begun: `too_many_at_once` where its client must first take others, and
   * `answers_busy` for a large one where all clients together have taken too little.
   */
  check({ client }: Asker, isLarge: boolean): void {
    const { total, each } = this.#bounds;
    const own = this.#held.of(client);
    if (own >= each) throw tooMuch(own);
    if (!isLarge) return;
    if (this.#held.total > fullShare * total || (own > 0 && this.isPressed)) throw busy();
  }

  /**
   * Counts an answer until it is out or given up. Throws as `check` where there is no room for it. A single answer
   * always has room where nothing else waits: how large it can be is bounded elsewhere.
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
