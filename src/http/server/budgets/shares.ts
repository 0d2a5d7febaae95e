import { networkOfClient } from '#kernel/concurrency/client-network.ts';
import { HeldByClient } from '#kernel/concurrency/held-by-client.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

export interface SharesOptions {
  /** The shared thing, in the words of messages: `streams of events`. */
  readonly what: string;
  /** Maximum number for all clients together. */
  readonly total: number;
  /** Maximum number for one client. */
  readonly each: number;
  /** Maximum number for one network of clients (`networkOfClient`). Absent: a network has no limit. */
  readonly eachNetwork?: number;
  /** Makes the error for the case that `total` is reached. */
  readonly full: (message: string) => AppError;
}

/**
 * Counts things that clients have open, such as streams, and limits how many each client may have, so that one client
 * cannot take all. There is no queue, so a refused client must try again.
 */
export class Shares {
  readonly #options: SharesOptions;
  readonly #held = new HeldByClient();
  readonly #heldByNetwork = new HeldByClient();

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** The number of open things, and its maximum. */
  get state(): QueueState {
    return { length: this.#held.total, limit: this.#options.total };
  }

  /**
   * Counts one more open thing of a client until the answer is sent. Throws `too_many_at_once` if the client or its
   * network has its maximum, or the error that `full` makes.
   */
  take({ client, whenOut }: Asker): void {
    const { what, total, each, eachNetwork, full } = this.#options;
    const network = networkOfClient(client);
    if (this.#held.of(client) >= each) {
      throw new AppError(
        'too_many_at_once',
        `you already have ${each} ${what} open, the most that one client may have`,
      );
    }
    if (eachNetwork !== undefined && this.#heldByNetwork.of(network) >= eachNetwork) {
      throw new AppError(
        'too_many_at_once',
        `your network already has ${eachNetwork} ${what} open, the most that one network may have`,
      );
    }
    if (this.#held.total >= total) throw full(`there are ${total} ${what} already`);
    this.#held.add(client, 1);
    this.#heldByNetwork.add(network, 1);
    whenOut(() => {
      this.#held.add(client, -1);
      this.#heldByNetwork.add(network, -1);
    });
  }
}
