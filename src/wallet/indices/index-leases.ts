import type pg from 'pg';
import { type IndexedBranch, indexedBranches } from '../branches.ts';
import { type BranchEnds, endsBy } from './branch-ends.ts';
import { areReleased, type IndexLease, leaseIndices } from './release.store.ts';

/**
 * Number of indices that a process takes at once, with one statement that locks the row. They last for some seconds of
 * creations. A process that ends leaves at most 150 of two billion unused, and six processes fit into one release of
 * 1,000.
 */
export const leasedAtOnce = 100;
/**
 * Number of indices below which a lease is extended in the background, so that a creation rarely waits for the
 * statement.
 */
const leasedLeast = leasedAtOnce / 2;

/** Indices that no other caller gets, in this process or in another one. */
export interface TakenIndices {
  /** The first index of each branch. Further indices follow without a gap. 0: no index of the branch was requested. */
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
 * Indices that this process hands out from memory. The process takes a range of a branch by its own short statement, so
 * creations never wait for the transactions of others. Indices that are in memory when the process ends are never used.
 * The same is true for indices of a transaction that was rolled back.
 */
export class IndexLeases {
  readonly #pool: pg.Pool;
  /** Ranges in the order in which they were taken. Each has at least one index. */
  readonly #leases = new Map<IndexedBranch, readonly IndexLease[]>();
  readonly #leasing = new Map<IndexedBranch, Leasing>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * Takes indices. Must be called before the transaction that stores their use, because taking needs a connection, and
   * a caller that waits for a connection must not hold one. Throws `wallet_missing` and `wallet_indices_unreleased`.
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
   * Whether taken indices may be used in this transaction, because their release is still valid. If the release ended,
   * the database may have been restored, so the rest of that release is given up here. The table cannot be emptied or
   * created again until the transaction ends.
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

  /** Skips a range with fewer indices than requested. It is kept for callers that request fewer. */
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

  /**
   * Takes more indices in the background if few are left. A failure is ignored here; the next caller that needs more
   * indices gets it.
   */
  #refill(branch: IndexedBranch): void {
    const left = this.#rangesOf(branch).reduce((sum, { first, end }) => sum + end - first, 0);
    if (left < leasedLeast && !this.#leasing.has(branch)) this.#lease(branch, 1).catch(() => undefined);
  }

  #rangesOf(branch: IndexedBranch): readonly IndexLease[] {
    return this.#leases.get(branch) ?? [];
  }

  /**
   * Takes indices by one statement that concurrent callers share. If it fails, it fails for all callers that request at
   * least as many indices.
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

  /** Stores a lease. Appends it to the last range if no indices were taken between the two. */
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
