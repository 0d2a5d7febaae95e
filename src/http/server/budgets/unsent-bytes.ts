import { HeldByClient } from '#kernel/concurrency/held-by-client.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

export interface UnsentBounds {
  /** Maximum number of unsent bytes of all clients. */
  readonly total: number;
  /** Maximum number of unsent bytes of one client. */
  readonly each: number;
}

/**
 * Share of `total`. If more bytes are unsent, slow readers are disconnected sooner, and a client with unsent bytes gets
 * no further large answer.
 */
const pressedShare = 0.5;
/**
 * Share of `total`. If more bytes are unsent, no large answer may start, because answers that are being made still need
 * room.
 */
const fullShare = 0.9;

/**
 * Counts the bytes of answers that were made but that clients have not received yet, for the process and for each
 * client. All bytes of an answer count until the answer is sent or abandoned.
 */
export class UnsentBytes {
  readonly #bounds: UnsentBounds;
  readonly #held = new HeldByClient();

  constructor(bounds: UnsentBounds) {
    this.#bounds = bounds;
  }

  /** The number of unsent bytes, and the limit of this number. */
  get state(): QueueState {
    return { length: this.#held.total, limit: this.#bounds.total };
  }

  get isPressed(): boolean {
    return this.#held.total > pressedShare * this.#bounds.total;
  }

  /**
   * Throws if an answer should not even start. Throws `too_many_at_once` if the client must first receive earlier
   * answers, and `answers_busy` for a large answer if all clients together have too many unsent bytes.
   */
  check({ client }: Asker, isLarge: boolean): void {
    const { total, each } = this.#bounds;
    const own = this.#held.of(client);
    if (own >= each) throw tooMuch(own);
    if (!isLarge) return;
    if (this.#held.total > fullShare * total || (own > 0 && this.isPressed)) throw busy();
  }

  /**
   * Counts an answer until it is sent or abandoned. Throws the errors of `check` if the answer would exceed a limit. If
   * there are no other unsent answers, any answer is accepted, because the size of one answer is limited elsewhere.
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
    `${own} bytes of earlier answers still wait for you; receive these answers before you request more`,
  );
}

function busy(): AppError {
  return new AppError('answers_busy', 'too many answers wait for slow clients; try again in a few seconds');
}
