import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { Arrived } from '#orders/inscribing/plan-transactions.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import { freeCoins, type IsUnspent, type ProveFree } from './free-coins.ts';

export interface ReturnCoinsParts {
  readonly client: pg.ClientBase;
  readonly node: NodeRpc;
  readonly proveFree: ProveFree;
}

/** Orders of one look that get a coin: each takes a question to the node. The others ask again. */
const lentAtOnce = 20;

/**
 * Free coins of the service for returns that no customer pays for. An order that needs one asks while its transaction
 * of the database is open, where no node is asked: it gets its coin in the next round.
 */
export class ReturnCoins {
  readonly #wanted = new Map<string, bigint>();
  readonly #ready = new Map<string, Arrived>();

  /** A coin of at least so many sats that was found for the order, once; null: it is looked for. */
  take(orderId: string, sats: bigint): Arrived | null {
    const coin = this.#ready.get(orderId);
    this.#ready.delete(orderId);
    if (coin !== undefined && coin.value >= sats) return coin;
    this.#wanted.set(orderId, sats);
    return null;
  }

  /** Finds coins for those that asked: the smallest that is enough. Returns the orders that have one now. */
  async find({ client, node, proveFree }: ReturnCoinsParts): Promise<string[]> {
    this.#ready.clear();
    if (this.#wanted.size === 0) return [];
    const wanted = [...this.#wanted].slice(0, lentAtOnce);
    this.#wanted.clear();
    const isThere: IsUnspent = (coin) => isUnspent(node, coin, { mempool: true });
    const coins = (await freeCoins(client, proveFree, isThere)) ?? [];
    let free = coins.toSorted((a, b) => Number(a.value - b.value));
    for (const [orderId, sats] of wanted) {
      for (const coin of free.filter(({ value }) => value >= sats)) {
        free = free.filter((other) => other !== coin);
        // another wallet with the seed may have spent it
        if (coin.key === null || !(await isThere(coin))) continue;
        this.#ready.set(orderId, { ...coin, key: coin.key, leafScript: null });
        break;
      }
    }
    return [...this.#ready.keys()];
  }

  /** Ends a round: a coin that no return took is free again. */
  release(): void {
    this.#ready.clear();
  }
}
