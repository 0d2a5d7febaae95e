import type pg from 'pg';
import { type IndexedBranch, indexedBranches } from '../branches.ts';
import { type BranchEnds, endsBy } from './branch-ends.ts';
import { areReleased, type IndexLease, leaseIndices } from './release.store.ts';

/**
 * Number of indices that a process takes with one statement, which locks the row. They are enough for some seconds of
 * new orders. A process that ends leaves at most 150 indices unused, of two billion. Six processes fit into one release
 * of 1,000.
 */
export const leasedAtOnce = 100;
/**
 * Number of indices below which a process takes more in the background, so that new orders rarely wait for the
 * statement.
 */
const leasedLeast = leasedAtOnce / 2;

/** Indices that only this caller gets. No other caller in this process or another process gets them. */
export interface TakenIndices {
  /**
   * The first index of each branch. The caller's other indices follow without a gap. The value is 0 if no index of the
   * branch was requested.
   */
  readonly first: BranchEnds;
  /** The release to which the indices of each branch belong. */
  readonly releases: readonly { readonly branch: IndexedBranch; readonly session: number }[];
}

/** A running statement that takes indices for all callers that wait for it. */
interface Leasing {
  readonly count: number;
  readonly ended: Promise<void>;
}

/**
 * Hands out indices from memory. The process takes each range of indices with a separate short statement, so that new
 * orders never wait for transactions of other orders. If the process ends, the indices in memory are never used.
 * Indices are also never used if their transaction was rolled back.
 */
export class IndexLeases {
  readonly #pool: pg.Pool;
  /** Ranges in the sequence in which they were taken. Each range has at least one index. */
  readonly #leases = new Map<IndexedBranch, readonly IndexLease[]>();
  readonly #leasing = new Map<IndexedBranch, Leasing>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /**
   * Takes indices. Must be called before the transaction that stores the use of the indices. Taking may need another
   * connection, and a caller that waits for a connection must not hold one. Throws `wallet_missing` and
   * `wallet_indices_unreleased`.
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
   * Whether this transaction may use taken indices, because their release is still valid. If the release has ended, the
   * database may have been restored, so all other indices of this release are given up here. The table cannot be
   * emptied or created again until the transaction ends.
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

  /**
   * Takes indices from the first range with enough of them. Returns null if there is no such range. Ranges with too few
   * indices stay for callers that request fewer.
   */
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
   * Takes more indices in the background if only a few are left. A failure is ignored here, because the next caller
   * that needs more indices sees the failure again.
   */
  #refill(branch: IndexedBranch): void {
    const left = this.#rangesOf(branch).reduce((sum, { first, end }) => sum + end - first, 0);
    if (left < leasedLeast && !this.#leasing.has(branch)) this.#lease(branch, 1).catch(() => undefined);
  }

  #rangesOf(branch: IndexedBranch): readonly IndexLease[] {
    return this.#leases.get(branch) ?? [];
  }

  /**
   * Takes indices with a statement that concurrent callers share. A failure is thrown to all callers that request at
   * least as many indices as the statement.
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

  /** Keeps a lease. If it has the session of the last range and starts at its end, the range is extended. */
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
