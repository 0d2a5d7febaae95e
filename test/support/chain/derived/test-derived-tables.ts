import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { DerivedBlock, DerivedRows, DerivedTable, RowSets } from '#indexer/derived/derived-table.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import { dumpPayments, payments, paymentTables } from './payments-table.ts';

/** Two derived tables that exist only in tests. */
export async function createDerivedTestTables(pool: pg.Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE chain.test_stays (key integer, height integer, step integer, spent_height integer,
      PRIMARY KEY (key, height, step));
    ${paymentTables}`);
}

class StayRows implements DerivedRows {
  readonly #out: CopyEncoder;
  readonly #ended: number[][] = [[], [], [], []];

  constructor(out: CopyEncoder) {
    this.#out = out;
  }

  add({ ledger: { height, locations, left } }: DerivedBlock): void {
    for (let row = 0; row < locations.count; row++) {
      this.#out.row();
      this.#out.int4(locations.key[row]!);
      this.#out.int4(height);
      this.#out.int4(locations.step[row]!);
      if (locations.spent[row] === 1) this.#out.int4(height);
      else this.#out.null();
    }
    for (let row = 0; row < left.count; row++) {
      const values = [left.key[row]!, left.height[row]!, left.step[row]!, height];
      for (const [at, value] of values.entries()) this.#ended[at]!.push(value);
    }
  }

  async write(tx: pg.ClientBase): Promise<void> {
    const { rowCount } = await tx.query(
      `UPDATE chain.test_stays s SET spent_height = e.spent_height
       FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[]) AS e(key, height, step, spent_height)
       WHERE s.key = e.key AND s.height = e.height AND s.step = e.step AND s.spent_height IS NULL`,
      this.#ended,
    );
    assert.equal(rowCount, this.#ended[0]!.length, 'a stay that ends is missing');
  }

  async compare(tx: pg.ClientBase, { ledger: { height, left } }: DerivedBlock): Promise<RowSets[]> {
    const { rows } = await tx.query<{ row: string }>(
      `SELECT concat_ws(' ', key, height, step) AS row FROM chain.test_stays WHERE spent_height = $1 AND height < $1`,
      [height],
    );
    const expected = Array.from(
      left.key.subarray(0, left.count),
      (key, row) => `${key} ${left.height[row]} ${left.step[row]}`,
    );
    return [
      { table: 'chain.test_stays', column: 'spent_height', expected, found: rows.map(({ row }) => row) },
    ];
  }
}

/** How long each inscription stayed at each location. The rows come from the ledger alone. */
export const stays: DerivedTable = {
  name: 'test_stays',
  facts: [],
  targets: [{ table: 'chain.test_stays', columns: 'key, height, step, spent_height', keyColumns: 3 }],
  indexes: {
    test_stays_height: { table: 'chain.test_stays', columns: 'height', isForUndo: true },
    test_stays_spent: { table: 'chain.test_stays', columns: 'spent_height', isForUndo: true },
  },
  firstHeight: () => 0,
  isWanted: () => true,
  begin: ([out]) => new StayRows(out!),
  async undo(tx, { ref: { height } }) {
    await tx.query('DELETE FROM chain.test_stays WHERE height = $1', [height]);
    await tx.query('UPDATE chain.test_stays SET spent_height = NULL WHERE spent_height = $1', [height]);
  },
};

/** The program's derived tables, and two tables of tests. */
export const testDerivedTables: readonly DerivedTable[] = [...derivedTables, stays, payments];

/** Returns all rows of the two test tables, and their events. */
export async function dumpDerivedTest(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `SELECT 'stay ' || to_jsonb(s)::text AS line FROM chain.test_stays s
     UNION ALL SELECT 'state ' || (to_jsonb(d) - 'problem_since')::text FROM chain.derived_tables d ORDER BY 1`,
  );
  return [...rows.map(({ line }) => line), ...(await dumpPayments(pool))];
}
