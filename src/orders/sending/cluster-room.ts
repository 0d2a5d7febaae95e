import type { ClusterLimits } from './node-standing.ts';

/** What is left for a transaction that pays for the others (docs/orders-operator.md, "Stuck transactions"). */
const bumpReserve: ClusterLimits = { count: 1, virtualBytes: 1000 };

/**
 * Counts what may still depend on an unconfirmed transaction. A cluster that is full cannot be paid for any more: one
 * place stays free, and the rest waits for the next block.
 */
export class ClusterRoom {
  #count: number;
  #virtualBytes: number;

  constructor(limits: ClusterLimits) {
    this.#count = limits.count - bumpReserve.count;
    this.#virtualBytes = limits.virtualBytes - bumpReserve.virtualBytes;
  }

  /** Counts a transaction that is there. */
  add(virtualBytes: number): void {
    this.#count--;
    this.#virtualBytes -= virtualBytes;
  }

  /** Whether so many may be added, of this size together. */
  has(count: number, virtualBytes: number): boolean {
    return this.#count >= count && this.#virtualBytes >= virtualBytes;
  }
}
