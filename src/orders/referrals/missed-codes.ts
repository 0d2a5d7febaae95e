import { LRUCache } from 'lru-cache';
import { networkOfClient } from '#kernel/concurrency/client-network.ts';

const hourMs = 3_600_000;
/**
 * Maximum number of wrong codes that a network may send at once, and per hour afterwards. A site with a mistyped code
 * sees the error with its first order.
 */
const missesMax = 20;
/** Maximum number of networks to remember. Each network takes 200 bytes. */
const networksMax = 20_000;

/**
 * Counts referral codes that a network guessed wrong. These are unknown codes in orders, and codes of other addresses
 * in registrations. Both answers reveal whether a code exists, so after too many wrong codes the network gets no answer
 * about any code. Each process has separate counts, so several processes allow more wrong codes in total.
 */
export class MissedCodes {
  readonly #levels = new LRUCache<string, { readonly misses: number; readonly atMs: number }>({
    max: networksMax,
  });

  /** Milliseconds until this client may send a code. 0 if the client may send a code now. */
  waitMs(client: string, nowMs = performance.now()): number {
    const over = this.#level(networkOfClient(client), nowMs) - (missesMax - 1);
    return Math.max(0, (over * hourMs) / missesMax);
  }

  /** Counts a wrong code. */
  count(client: string, nowMs = performance.now()): void {
    const network = networkOfClient(client);
    this.#levels.set(network, { misses: this.#level(network, nowMs) + 1, atMs: nowMs });
  }

  #level(network: string, nowMs: number): number {
    const { misses, atMs } = this.#levels.get(network) ?? { misses: 0, atMs: nowMs };
    return Math.max(0, misses - ((nowMs - atMs) * missesMax) / hourMs);
  }
}
