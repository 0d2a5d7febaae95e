import type pg from 'pg';
import type { KeptTransaction, KeptTransactions } from '#indexer/mempool/pending/kept-transactions.ts';
import type { HashKey } from '#indexer/mempool/stream/membership.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import {
  clearPending,
  type Departure,
  deletePending,
  insertDepartures,
  insertPending,
  type MempoolStatus,
  type PendingRows,
  setBlocks,
  writeState,
} from './pending.store.ts';

/** Changes for the next write to the tables. */
export class PendingWrites {
  readonly #pool: pg.Pool;
  readonly #stateEveryMs: number;
  readonly #rows = new Map<HashKey, PendingRows>();
  readonly #deleted = new Set<HashKey>();
  readonly #moved = new Set<KeptTransaction>();
  #writtenAt: number | null = null;

  constructor(pool: pg.Pool, stateEveryMs: number) {
    this.#pool = pool;
    this.#stateEveryMs = stateEveryMs;
  }

  /** True after the first write, which writes the whole first snapshot. */
  get hasWritten(): boolean {
    return this.#writtenAt !== null;
  }

  /** Replaces the rows of a transaction. */
  put(row: PendingRows): void {
    this.#deleted.add(row.transaction.txid);
    this.#rows.set(row.transaction.txid, row);
  }

  delete(txid: HashKey): void {
    this.#rows.delete(txid);
    this.#deleted.add(txid);
  }

  /** Records the changed block of a transaction. */
  move(transaction: KeptTransaction): void {
    this.#moved.add(transaction);
  }

  /**
   * Writes all changes in one transaction. The first write also deletes all rows of another process. If there are no
   * changes, writes only the state from time to time. Throws `mempool_tables_lost`.
   */
  async write(
    kept: KeptTransactions,
    departures: readonly Departure[],
    status: MempoolStatus,
  ): Promise<void> {
    const isFirst = this.#writtenAt === null;
    const isChanged = this.#rows.size + this.#deleted.size + this.#moved.size + departures.length > 0;
    const isDue = this.#writtenAt === null || Date.now() - this.#writtenAt > this.#stateEveryMs;
    if (!isChanged && !isDue) return;
    const moved = [...this.#moved].filter(({ txid }) => !this.#rows.has(txid) && kept.get(txid) !== null);
    await withTransaction(this.#pool, async (tx) => {
      if (!(await writeState(tx, status, { isFirst, isChanged }))) {
        throw new AppError(
          'mempool_tables_lost',
          'The tables of the mempool are empty after a crash of Postgres, or another process wrote to them.',
        );
      }
      if (isFirst) await clearPending(tx);
      else await deletePending(tx, [...this.#deleted]);
      await insertPending(tx, [...this.#rows.values()]);
      await setBlocks(tx, moved);
      await insertDepartures(tx, departures);
    });
    this.#writtenAt = Date.now();
    this.#rows.clear();
    this.#deleted.clear();
    this.#moved.clear();
  }
}
