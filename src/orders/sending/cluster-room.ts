import type { ClusterLimits } from './node-standing.ts';

/** Room for a transaction that pays for the others (docs/orders-operator.md, "Stuck transactions"). */
const bumpReserve: ClusterLimits = { count: 1, virtualBytes: 1000 };

/**
 * Counts what may still depend on an unconfirmed transaction. Nothing can pay for a full cluster, so one place stays
 * free, and the rest waits for the next block.
 */
export class ClusterRoom {
  #count: number;
  #virtualBytes: number;

  constructor(limits: ClusterLimits) {
    this.#count = limits.count - bumpReserve.count;
    this.#virtualBytes = limits.virtualBytes - bumpReserve.virtualBytes;
  }

  /** Counts a transaction that is in the mempool. */
  add(virtualBytes: number): void {
    this.#count--;
    this.#virtualBytes -= virtualBytes;
  }

  /** Whether this many transactions may be added, with this size together. */
  has(count: number, virtualBytes: number): boolean {
    return this.#count >= count && this.#virtualBytes >= virtualBytes;
  }
}
