import type pg from 'pg';
import { expect, test } from 'vitest';
import { runeIndexes } from '#indexer/derived/runes/rune-indexes.ts';
import { chainFromNothing } from '#test/support/chain/chain-migrations.ts';
import { createTestDatabase } from '#test/support/database.ts';

const oldIndexes = `
  CREATE INDEX rune_balances_received ON chain.rune_balances (chain.hash32(script), height);
  CREATE INDEX rune_balances_owner ON chain.rune_balances (chain.hash32(script)) WHERE spent_height IS NULL;
  CREATE INDEX rune_balances_spent ON chain.rune_balances (spent_height, spent_tx_index) WHERE spent_height IS NOT NULL;
  CREATE INDEX rune_balances_rune_spent ON chain.rune_balances (rune_key, spent_height) WHERE spent_height IS NOT NULL;
  CREATE INDEX rune_balances_rune ON chain.rune_balances (rune_key, height)`;

async function indexesOf(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'chain' AND tablename = 'rune_balances' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

test('a database with the four indexes of balances of runes gets the two that replace them, and none during a load', async () => {
  const database = await createTestDatabase();
  const { pool } = database;
  try {
    const migrate = await chainFromNothing(pool);
    await migrate('0001', '0028');
    const inLoad = await indexesOf(pool);
    await pool.query(oldIndexes);
    await migrate('0028', '0029');
    const further = ['rune_balances_rune', 'rune_balances_script', 'rune_balances_spends'];
    expect(await indexesOf(pool)).toEqual([...inLoad, ...further].toSorted());
    // a writer makes no index whose name already exists, so both definitions must be the same
    for (const name of ['rune_balances_script', 'rune_balances_spends'] as const) {
      const { columns, where } = runeIndexes[name]!;
      const { rows } = await pool.query<{ made: string }>(
        'SELECT indexdef AS made FROM pg_indexes WHERE indexname = $1',
        [name],
      );
      const [, ofColumns, ofRows] = / USING btree (\(.*?\))(?: WHERE \((.*)\))?$/u.exec(rows[0]!.made)!;
      expect({ ofColumns, ofRows }).toEqual({
        ofColumns: `(${columns.replaceAll('chain.', '')})`,
        ofRows: where,
      });
    }

    const again = await chainFromNothing(pool);
    await again('0001', '0029');
    expect(await indexesOf(pool)).toEqual(inLoad);
  } finally {
    await database.drop();
  }
});
