import { networkOfClient } from '#kernel/concurrency/client-network.ts';
import { HeldByClient } from '#kernel/concurrency/held-by-client.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { QueueState } from '#kernel/reports/metrics.ts';

export interface SharesOptions {
  /** The shared thing, in the words of messages: `streams of events`. */
  readonly what: string;
  /** Places of the process. */
  readonly total: number;
  /** Places of one client. */
  readonly each: number;
  /** Places of one network of clients (`networkOfClient`); absent: a network has no limit. */
  readonly eachNetwork?: number;
  /** Makes the error for the case that all places are taken. */
  readonly full: (message: string) => AppError;
}

/**
 * Places of which each client gets at most a share, so that one client cannot take all. There is no queue: a client
 * without a place must try again.
 */
export class Shares {
  readonly #options: SharesOptions;
  readonly #held = new HeldByClient();
  readonly #heldByNetwork = new HeldByClient();

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** The number of taken places, and of all places. */
  get state(): QueueState {
    return { length: this.#held.total, limit: this.#options.total };
  }

  /** Takes a place until the answer is sent. Throws `too_many_at_once`, or the error of full places. */
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
