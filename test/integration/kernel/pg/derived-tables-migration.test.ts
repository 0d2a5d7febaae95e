import { expect, test } from 'vitest';
import { chainFromNothing } from '#test/support/chain/chain-migrations.ts';
import { createTestDatabase } from '#test/support/database.ts';

test('counts of children and the address index of a database of the last version stay, and no trigger is left', async () => {
  const database = await createTestDatabase();
  const { pool } = database;
  try {
    const migrate = await chainFromNothing(pool);
    await migrate('0001', '0011');
    await pool.query(
      `INSERT INTO chain.state (network, fingerprint_key, text_rules, cbor_rules, tip_height, tip_hash, address_index)
       VALUES ('regtest', sha256('key'), 1, 1, 7, sha256('7'), true)`,
    );
    // the triggers of that version counted the children
    await pool.query(
      'INSERT INTO chain.parents (child_key, position, parent_key, height) SELECT k, 0, k % 3, 7 FROM generate_series(10, 5009) AS k',
    );
    const counts = async (table: string): Promise<unknown> =>
      (await pool.query<object>(`SELECT * FROM chain.${table} ORDER BY 1`)).rows;
    const marks = 'SELECT * FROM chain.child_marks ORDER BY 1, 2';
    const before = [await counts('collections'), (await pool.query(marks)).rows];
    expect(before[1]).not.toEqual([]);
    await migrate('0011', '0012');
    expect([await counts('parent_children'), (await pool.query(marks)).rows]).toEqual(before);
    const { rows } = await pool.query(
      'SELECT name, from_height, is_followed, tip_height FROM chain.derived_tables ORDER BY name',
    );
    expect(rows).toEqual([
      { name: 'outputs', from_height: 0, is_followed: true, tip_height: null },
      { name: 'parent_children', from_height: 0, is_followed: true, tip_height: null },
    ]);
    await pool.query(
      'INSERT INTO chain.parents (child_key, position, parent_key, height) VALUES (9, 0, 1, 7)',
    );
    expect(await counts('parent_children')).toEqual(before[0]);
  } finally {
    await database.drop();
  }
});
