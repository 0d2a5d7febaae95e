import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import type { Arrived } from '#orders/inscribing/plan-transactions.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import { freeCoins, type IsUnspent, type ProveFree } from './free-coins.ts';
import { type ReservedSats, readFreeSats, spareOf } from './spare-sats.ts';

export interface ReturnCoinsParts {
  readonly client: pg.ClientBase;
  readonly node: NodeRpc;
  readonly proveFree: ProveFree;
  readonly reserved: ReservedSats;
  readonly log: Logger;
}

/**
 * Maximum number of orders that get a coin in one round, because the node is asked about each coin. The other orders
 * ask again.
 */
const lentAtOnce = 20;

/**
 * Free coins of the service for returns that no customer pays for. An order asks for a coin inside its database
 * transaction, where the node cannot be asked. The order therefore gets its coin in the next round.
 */
export class ReturnCoins {
  readonly #wanted = new Map<string, bigint>();
  readonly #ready = new Map<string, Arrived>();
  readonly #repeats = new Repeats();

  /**
   * Takes the coin that was found for the order, if it has at least `sats` sats. Returns null if there is no such coin;
   * the next round then searches one.
   */
  take(orderId: string, sats: bigint): Arrived | null {
    const coin = this.#ready.get(orderId);
    this.#ready.delete(orderId);
    if (coin !== undefined && coin.value >= sats) return coin;
    this.#wanted.set(orderId, sats);
    return null;
  }

  /**
   * Finds the smallest sufficient coin for each order that asked. Finds no coin if free coins would fall below the sats
   * that must be kept. Returns the orders that have a coin now.
   */
  async find({ client, node, proveFree, reserved, log }: ReturnCoinsParts): Promise<string[]> {
    this.#ready.clear();
    if (this.#wanted.size === 0) return [];
    const wanted = [...this.#wanted].slice(0, lentAtOnce);
    this.#wanted.clear();
    const isThere: IsUnspent = (coin) => isUnspent(node, coin, { mempool: true });
    const coins = (await freeCoins(client, proveFree, isThere)) ?? [];
    let free = coins.toSorted((a, b) => Number(a.value - b.value));
    const found = await readFreeSats(client, reserved);
    let spare = spareOf(found);
    let heldBack = 0;
    for (const [orderId, sats] of wanted) {
      // `spare` is reduced below by the value of the whole coin, because the coin's change is free only once it is in a
      // block
      if (sats > spare) {
        if (free.length > 0) heldBack++;
        continue;
      }
      for (const coin of free.filter(({ value }) => value >= sats)) {
        free = free.filter((other) => other !== coin);
        // another wallet with the same seed may have spent the coin
        if (coin.key === null || !(await isThere(coin))) continue;
        this.#ready.set(orderId, { ...coin, key: coin.key, leafScript: null });
        spare -= coin.value;
        break;
      }
    }
    if (heldBack > 0 && this.#repeats.isDue(String(heldBack)))
      log.warn(
        { orders: heldBack, free: Number(found.free), reserved: Number(found.reserved) },
        'no outputs are returned now, because the free coins are reserved for what partners are owed',
      );
    return [...this.#ready.keys()];
  }

  /** Ends a round. Coins that no return used are free again. */
  release(): void {
    this.#ready.clear();
  }
}
