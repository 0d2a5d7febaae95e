import type pg from 'pg';
import { type IndexedBranch, indexedBranches } from '../branches.ts';
import { type BranchEnds, endsBy } from './branch-ends.ts';
import { areReleased, type IndexLease, leaseIndices } from './release.store.ts';

/**
 * Indices that a process takes at once: some seconds of creations, with one statement that locks the row. A process
 * that ends leaves at most 100 unused, of two billion, and ten processes take one release of 1,000.
 */
export const leasedAtOnce = 100;

/** Indices that no one else gets, in this process or another one. */
export interface TakenIndices {
  /** The first of each branch, which others follow without a gap; 0 where none was asked for. */
  readonly first: BranchEnds;
  /** The release that those of a branch are of. */
  readonly releases: readonly { readonly branch: IndexedBranch; readonly session: number }[];
}

/** A statement that takes indices, and who waits for it. */
interface Leasing {
  readonly count: number;
  readonly ended: Promise<void>;
}

/**
 * Indices that this process hands out from memory. It takes a range of a branch by a short statement of its own, so
 * creations never wait for the transactions of others. What is in memory when the process ends is a gap, and so is what
 * a transaction took that was rolled back.
 */
export class IndexLeases {
  readonly #pool: pg.Pool;
  readonly #leases = new Map<IndexedBranch, IndexLease>();
  readonly #leasing = new Map<IndexedBranch, Leasing>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * Takes indices before the transaction that stores what they are for: it needs a connection, and none that waits for
   * another one may have one. Throws `wallet_missing` and `wallet_indices_unreleased`.
   */
  async take(counts: Partial<BranchEnds>): Promise<TakenIndices> {
    const taken = new Map<IndexedBranch, IndexLease>();
    for (const branch of indexedBranches) {
      const count = counts[branch] ?? 0;
      if (count > 0) taken.set(branch, await this.#take(branch, count));
    }
    return {
      first: endsBy((branch) => taken.get(branch)?.first ?? 0),
      releases: [...taken].map(([branch, { session }]) => ({ branch, session })),
    };
  }

  /**
   * Whether taken indices may be used in this transaction: the release that they are of still counts. If it ended, the
   * database may have been restored, and what is left of it here is given up. Until the transaction ends, the table
   * cannot be emptied or made again.
   */
  async confirm(tx: pg.ClientBase, { releases }: TakenIndices): Promise<boolean> {
    if (await areReleased(tx, releases)) return true;
    for (const { branch, session } of releases)
      if (this.#leases.get(branch)?.session === session) this.#leases.delete(branch);
    return false;
  }

  async #take(branch: IndexedBranch, count: number): Promise<IndexLease> {
    for (;;) {
      const lease = this.#leases.get(branch);
      if (lease !== undefined && lease.end - lease.first >= count) {
        const end = lease.first + count;
        this.#leases.set(branch, { ...lease, first: end });
        return { ...lease, end };
      }
      await this.#lease(branch, count);
    }
  }

  /** Many may ask at once, and one statement is made: a failure is that of all who ask for as many. */
  async #lease(branch: IndexedBranch, count: number): Promise<void> {
    const pending = this.#leasing.get(branch);
    if (pending !== undefined)
      return pending.ended.catch((error: unknown) => {
        if (count >= pending.count) throw error;
      });
    const ended = leaseIndices(this.#pool, branch, { least: count, most: Math.max(count, leasedAtOnce) })
      .then((lease) => this.#keep(branch, lease))
      .finally(() => this.#leasing.delete(branch));
    this.#leasing.set(branch, { count, ended });
    return ended;
  }

  /** Appends to the last range if nothing was taken between; else what is left of that is a gap. */
  #keep(branch: IndexedBranch, lease: IndexLease): void {
    const before = this.#leases.get(branch);
    const isNext = before?.end === lease.first && before.session === lease.session;
    this.#leases.set(branch, isNext ? { ...lease, first: before.first } : lease);
  }
}
