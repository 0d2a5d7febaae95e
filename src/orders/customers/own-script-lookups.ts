import { BatchedReads } from '#kernel/concurrency/batched-reads.ts';

type Scripts = readonly Uint8Array[];

/** Returns those of the given scripts that belong to the service. */
type OwnAmong = (scripts: Scripts, signal: AbortSignal) => Promise<Scripts>;

const bounds = {
  /** Maximum number of look-ups at the same time. While one look-up hangs, the other serves all further orders. */
  batches: 2,
  /**
   * Maximum number of orders whose scripts are looked up with one statement. An order has up to 10,000 scripts, and the
   * look-up of 40,000 scripts takes the event loop some 20 ms.
   */
  questions: 4,
} as const;

/**
 * Looks up which scripts of orders belong to the service, for several orders with one statement. If the statement
 * fails, each of these orders gets its own statement, so that the scripts of one order cannot refuse the other orders.
 */
export class OwnScriptLookups {
  readonly #ownAmong: OwnAmong;
  readonly #reads: BatchedReads<Scripts, PromiseSettledResult<Scripts>>;

  constructor(ownAmong: OwnAmong) {
    this.#ownAmong = ownAmong;
    this.#reads = new BatchedReads((orders, signal) => this.#read(orders, signal), bounds);
  }

  /** Returns the own scripts among the scripts of one order. */
  async ask(scripts: Scripts, signal: AbortSignal): Promise<Scripts> {
    const answer = await this.#reads.ask(scripts, signal);
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  }

  async #read(
    orders: readonly Scripts[],
    signal: AbortSignal,
  ): Promise<readonly PromiseSettledResult<Scripts>[]> {
    try {
      const own = new Set(await this.#ownAmong(orders.flat(), signal));
      return orders.map((scripts) => ({
        status: 'fulfilled',
        value: scripts.filter((script) => own.has(script)),
      }));
    } catch (error) {
      if (orders.length === 1 || signal.aborted) throw error;
      return Promise.allSettled(orders.map((scripts) => this.#ownAmong(scripts, signal)));
    }
  }
}
