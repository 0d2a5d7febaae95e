import { LRUCache } from 'lru-cache';
import { networkOfClient } from '#kernel/concurrency/client-network.ts';

const hourMs = 3_600_000;
/** Wrong codes of a network at once, and again in an hour: a site with a mistyped code learns it from its first order. */
const missesMax = 20;
/** Networks that are remembered, 200 bytes each. */
const networksMax = 20_000;

/**
 * Counts codes of referrals that a network sent and did not know: unknown ones in orders, and those of others in
 * registrations. Both answers tell whether a code exists, so who sends too many gets no more of them for any code, known
 * or not. Of this process: several allow as many each.
 */
export class MissedCodes {
  readonly #levels = new LRUCache<string, { readonly misses: number; readonly atMs: number }>({
    max: networksMax,
  });

  /** Milliseconds until a code of this client is looked up; 0: now. */
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
