import { networkOfClient } from '#kernel/concurrency/client-network.ts';
import { HeldByClient } from '#kernel/concurrency/held-by-client.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

export interface SharesOptions {
  /** What is shared, as messages call it: `streams of events`. */
  readonly what: string;
  /** Places of the process. */
  readonly total: number;
  /** Places of one client. */
  readonly each: number;
  /** Places of one network of clients (`networkOfClient`); absent: a network has no bound. */
  readonly eachNetwork?: number;
  /** The error where all places are taken. */
  readonly full: (message: string) => AppError;
}

/**
 * Places of which each client has a share at most, so that one cannot take all. There is no queue: a client without a
 * place must try again.
 */
export class Shares {
  readonly #options: SharesOptions;
  readonly #held = new HeldByClient();
  readonly #heldByNetwork = new HeldByClient();

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** Places that are taken, and all. */
  get state(): QueueState {
    return { length: this.#held.total, limit: this.#options.total };
  }

  /** Takes a place until the answer is out. Throws `too_many_at_once`, or the error of full places. */
  take({ client, whenOut }: Asker): void {
    const { what, total, each, eachNetwork, full } = this.#options;
    const network = networkOfClient(client);
    if (this.#held.of(client) >= each) {
      throw new AppError(
        'too_many_at_once',
        `you have ${each} ${what} open already, which is the most at once`,
      );
    }
    if (eachNetwork !== undefined && this.#heldByNetwork.of(network) >= eachNetwork) {
      throw new AppError(
        'too_many_at_once',
        `your network has ${eachNetwork} ${what} open already, which is the most at once`,
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
