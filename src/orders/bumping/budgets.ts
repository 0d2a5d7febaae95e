import { displayHash, type Txid } from '#kernel/primitives/hash.ts';

/** What an order bears of the bumps that replace each other, of which one is mined. */
export interface SpentOnFamily {
  readonly orderId: string;
  readonly family: Txid;
  readonly fee: bigint;
}

/**
 * What orders may still cost, counted down with each bump that is stored. Of a family an order bears its largest share:
 * any of them may be mined.
 */
export class Budgets {
  readonly #maxSats: bigint;
  /** By order, then by family. */
  readonly #spent = new Map<string, Map<string, bigint>>();

  constructor(maxSats: bigint, spent: readonly SpentOnFamily[]) {
    this.#maxSats = maxSats;
    for (const { orderId, family, fee } of spent) this.spend(family, new Map([[orderId, fee]]));
  }

  /** @param replaced what this family has spent is free again for the next one of it; null: none is replaced */
  of(orderIds: Iterable<string>, replaced: Txid | null = null): ReadonlyMap<string, bigint> {
    const family = replaced === null ? null : displayHash(replaced);
    const left = new Map<string, bigint>();
    for (const id of orderIds) {
      let budget = this.#maxSats;
      for (const [of, fee] of this.#spent.get(id) ?? []) if (of !== family) budget -= fee;
      left.set(id, budget > 0n ? budget : 0n);
    }
    return left;
  }

  /** A bump of this family is stored, and costs orders so much. */
  spend(family: Txid, shares: ReadonlyMap<string, bigint>): void {
    const key = displayHash(family);
    for (const [id, share] of shares) {
      const families = this.#spent.get(id) ?? new Map<string, bigint>();
      const before = families.get(key) ?? 0n;
      families.set(key, share > before ? share : before);
      this.#spent.set(id, families);
    }
  }
}
