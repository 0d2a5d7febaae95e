import type { ClusterLimits } from './node-standing.ts';

/**
 * Room that stays free for a transaction that pays the fee for the others (docs/orders-operator.md, "Stuck
 * transactions").
 */
const bumpReserve: ClusterLimits = { count: 1, virtualBytes: 1000 };

/**
 * Tracks how many transactions may still depend on an unconfirmed transaction. A full cluster has no room for a
 * transaction that raises its fee. So room for one transaction stays free, and the remaining transactions wait for the
 * next block.
 */
export class ClusterRoom {
  #count: number;
  #virtualBytes: number;

  constructor(limits: ClusterLimits) {
    this.#count = limits.count - bumpReserve.count;
    this.#virtualBytes = limits.virtualBytes - bumpReserve.virtualBytes;
  }

  /** Subtracts a transaction of this size, which is in the mempool. */
  add(virtualBytes: number): void {
    this.#count--;
    this.#virtualBytes -= virtualBytes;
  }

  /** Whether this number of transactions with this total size may be added. */
  has(count: number, virtualBytes: number): boolean {
    return this.#count >= count && this.#virtualBytes >= virtualBytes;
  }
}
