import type pg from 'pg';
import type { Tip } from '#kernel/contracts/search-engine.ts';

/** Keys from `firstKey` to the next run belong to blocks of the same day (UTC, days since 1970). */
export interface DayRun {
  readonly firstKey: number;
  readonly day: number;
}

/**
 * The days of blocks, kept in memory and extended from the last block that was read. Consecutive blocks of one day
 * share an entry of 16 bytes, so a chain of 15 years has some thousands of entries. If block times alternate between
 * days, every block has its own entry.
 */
export class BlockDays {
  #epoch = -1;
  #height = -1;
  #runs: DayRun[] = [];

  /** The runs, ascending. They may reach beyond a snapshot of this tip. */
  async read(client: pg.ClientBase, tip: Tip | null): Promise<readonly DayRun[]> {
    if (tip === null) return [];
    if (tip.undoEpoch === this.#epoch && tip.height <= this.#height) return this.#runs;
    const isNext = tip.undoEpoch === this.#epoch;
    const before = isNext ? this.#runs : [];
    const { rows } = await client.query<{ first_key: number; day: number }>(
      `SELECT first_key, day
         FROM (SELECT height, first_key, time / 86400 AS day, lag(time / 86400) OVER (ORDER BY height) AS before
                 FROM chain.blocks WHERE height > $1 AND height <= $2 AND next_key > first_key) AS blocks
        WHERE day IS DISTINCT FROM before ORDER BY height`,
      [isNext ? this.#height : -1, tip.height],
    );
    const runs = [...before, ...rows.map((row) => ({ firstKey: row.first_key, day: row.day }))];
    // another search may have read more blocks meanwhile
    if (tip.undoEpoch > this.#epoch || (isNext && tip.height > this.#height)) {
      this.#epoch = tip.undoEpoch;
      this.#height = tip.height;
      this.#runs = runs;
    }
    return runs;
  }
}
