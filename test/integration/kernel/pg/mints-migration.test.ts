import { expect, test } from 'vitest';
import { chainFromNothing } from '#test/support/chain/chain-migrations.ts';
import { createTestDatabase } from '#test/support/database.ts';

test('mints of a database with a row each become a row for each rune and block, with its index', async () => {
  const database = await createTestDatabase();
  const { pool } = database;
  try {
    const migrate = await chainFromNothing(pool);
    await migrate('0001', '0027');
    await pool.query(
      `INSERT INTO chain.rune_mints (rune_key, height, tx_index, mints, txid) VALUES
         (5, 7, 12, 3, NULL), (5, 7, 2, 2, NULL), (3, 7, 4, 1, sha256('4')), (3, 7, 300, 2, sha256('300')), (5, 6, 9, 1, NULL);
       CREATE INDEX rune_mints_rune ON chain.rune_mints (rune_key, height, tx_index)`,
    );
    await migrate('0027');
    const { rows } = await pool.query(
      `SELECT height, rune_key, mints, tx_indexes, txids = sha256('4') || sha256('300') AS txids
       FROM chain.rune_mints ORDER BY height, rune_key`,
    );
    expect(rows).toEqual([
      { height: 6, rune_key: 5, mints: 1, tx_indexes: [9], txids: null },
      { height: 7, rune_key: 3, mints: 2, tx_indexes: [4, 300], txids: true },
      { height: 7, rune_key: 5, mints: 3, tx_indexes: [2, 12], txids: null },
    ]);
    const indexes = await pool.query<{ name: string }>(
      `SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'chain' AND tablename = 'rune_mints' ORDER BY 1`,
    );
    expect(indexes.rows.map(({ name }) => name)).toEqual(['rune_mints_pkey', 'rune_mints_rune']);
  } finally {
    await database.drop();
  }
});
