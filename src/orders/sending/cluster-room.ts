import type { ClusterLimits } from './node-standing.ts';

/**
 * Room that is reserved for a transaction that pays for the others (docs/orders-operator.md, "Stuck transactions").
 */
const bumpReserve: ClusterLimits = { count: 1, virtualBytes: 1000 };

/**
 * Tracks how many transactions may still depend on an unconfirmed transaction. No transaction could pay for a full
 * cluster, so one position stays free, and the rest waits for the next block.
 */
export class ClusterRoom {
  #count: number;
  #virtualBytes: number;

  constructor(limits: ClusterLimits) {
    this.#count = limits.count - bumpReserve.count;
    this.#virtualBytes = limits.virtualBytes - bumpReserve.virtualBytes;
  }

  /** Subtracts a transaction that is in the mempool. */
  add(virtualBytes: number): void {
    this.#count--;
    this.#virtualBytes -= virtualBytes;
  }

  /** Whether this number of transactions with this total size may be added. */
  has(count: number, virtualBytes: number): boolean {
    return this.#count >= count && this.#virtualBytes >= virtualBytes;
  }
}
