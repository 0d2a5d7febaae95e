import { networkOfClient } from '#kernel/concurrency/client-network.ts';
import { HeldByClient } from '#kernel/concurrency/held-by-client.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

export interface SharesOptions {
  /** Name of the shared thing in messages, for example `streams of events`. */
  readonly what: string;
  /** Maximum number for all clients together. */
  readonly total: number;
  /** Maximum number for one client. */
  readonly each: number;
  /** Maximum number for one network of clients (`networkOfClient`). If this is absent, networks have no limit. */
  readonly eachNetwork?: number;
  /** Makes the error that is thrown when `total` is reached. */
  readonly full: (message: string) => AppError;
}

/**
 * Counts things that clients have open, for example streams. Limits how many each client may have, so that one client
 * cannot have all. There is no queue, so a refused client must retry.
 */
export class Shares {
  readonly #options: SharesOptions;
  readonly #held = new HeldByClient();
  readonly #heldByNetwork = new HeldByClient();

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** The number of open things, and the maximum of this number. */
  get state(): QueueState {
    return { length: this.#held.total, limit: this.#options.total };
  }

  /**
   * Counts one more open thing of a client until the answer is sent. Throws `too_many_at_once` if the client or its
   * network has reached its maximum. Throws the error that `full` makes if all clients together have.
   */
  take({ client, whenOut }: Asker): void {
    const { what, total, each, eachNetwork, full } = this.#options;
    const network = networkOfClient(client);
    if (this.#held.of(client) >= each) {
      throw new AppError(
        'too_many_at_once',
        `you already have ${each} ${what} open, the maximum for one client`,
      );
    }
    if (eachNetwork !== undefined && this.#heldByNetwork.of(network) >= eachNetwork) {
      throw new AppError(
        'too_many_at_once',
        `your network already has ${eachNetwork} ${what} open, the maximum for one network`,
      );
    }
    if (this.#held.total >= total) throw full(`there are already ${total} ${what}`);
    this.#held.add(client, 1);
    this.#heldByNetwork.add(network, 1);
    whenOut(() => {
      this.#held.add(client, -1);
      this.#heldByNetwork.add(network, -1);
    });
  }
}
