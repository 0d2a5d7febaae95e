import type pg from 'pg';
import { type IndexedBranch, indexedBranches } from '../branches.ts';
import { type BranchEnds, endsBy } from './branch-ends.ts';
import { areReleased, type IndexLease, leaseIndices } from './release.store.ts';

/**
 * Indices that a process takes at once: some seconds of creations, with one statement that locks the row. A process
 * that ends leaves at most 150 unused, of two billion, and six processes fit into one release of 1,000.
 */
export const leasedAtOnce = 100;
/** A lease with fewer indices left is extended in the background, so that a creation rarely waits for the statement. */
const leasedLeast = leasedAtOnce / 2;

/** Indices that no one else gets, in this process or another one. */
export interface TakenIndices {
  /** The first index of each branch. The others follow without a gap. 0 if the branch was not asked for. */
  readonly first: BranchEnds;
  /** The release to which the indices of each branch belong. */
  readonly releases: readonly { readonly branch: IndexedBranch; readonly session: number }[];
}

/** A statement that takes indices, and the callers that wait for it. */
interface Leasing {
  readonly count: number;
  readonly ended: Promise<void>;
}

/**
 * Indices that this process hands out from memory. It takes a range of a branch by a short statement of its own, so
 * creations never wait for the transactions of others. Indices that are in memory when the process ends are never used;
 * nor are those of a transaction that was rolled back.
 */
export class IndexLeases {
  readonly #pool: pg.Pool;
  /** Ranges in the order in which they were taken, each with at least one index. */
  readonly #leases = new Map<IndexedBranch, readonly IndexLease[]>();
  readonly #leasing = new Map<IndexedBranch, Leasing>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * Takes indices before the transaction that stores their use. Taking needs a connection, and a caller that waits for
   * a connection must not hold one. Throws `wallet_missing` and `wallet_indices_unreleased`.
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
   * Whether taken indices may be used in this transaction: their release still counts. If it ended, the database may
   * have been restored, and the rest of that release is given up here. Until the transaction ends, the table cannot be
   * emptied or created again.
   */
  async confirm(tx: pg.ClientBase, { releases }: TakenIndices): Promise<boolean> {
    if (await areReleased(tx, releases)) return true;
    for (const { branch, session } of releases)
      this.#leases.set(
        branch,
        this.#rangesOf(branch).filter((range) => range.session !== session),
      );
    return false;
  }

  async #take(branch: IndexedBranch, count: number): Promise<IndexLease> {
    for (;;) {
      const taken = this.#takeFromMemory(branch, count);
      if (taken !== null) {
        this.#refill(branch);
        return taken;
      }
      await this.#lease(branch, count);
    }
  }

  /** Skips a range with fewer indices than are asked for. It stays for callers that ask for fewer. */
  #takeFromMemory(branch: IndexedBranch, count: number): IndexLease | null {
    const ranges = this.#rangesOf(branch);
    const range = ranges.find(({ first, end }) => end - first >= count);
    if (range === undefined) return null;
    const end = range.first + count;
    const left = ranges.map((each) => (each === range ? { ...range, first: end } : each));
    this.#leases.set(
      branch,
      left.filter((each) => each.first < each.end),
    );
    return { ...range, end };
  }

  /** Takes more in the background if few are left. A failure goes to the next caller that needs more than that. */
  #refill(branch: IndexedBranch): void {
    const left = this.#rangesOf(branch).reduce((sum, { first, end }) => sum + end - first, 0);
    if (left < leasedLeast && !this.#leasing.has(branch)) this.#lease(branch, 1).catch(() => undefined);
  }

  #rangesOf(branch: IndexedBranch): readonly IndexLease[] {
    return this.#leases.get(branch) ?? [];
  }

  /**
   * Many callers may ask at once, and share one statement. If it fails, it fails for all that ask for at least as many.
   */
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

  /** Appends to the last range if nothing was taken between. */
  #keep(branch: IndexedBranch, lease: IndexLease): void {
    const ranges = this.#rangesOf(branch);
    const last = ranges.at(-1);
    const isNext = last?.end === lease.first && last.session === lease.session;
    this.#leases.set(
      branch,
      isNext ? [...ranges.slice(0, -1), { ...lease, first: last.first }] : [...ranges, lease],
    );
  }
}
