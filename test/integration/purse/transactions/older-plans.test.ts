import { expect, test } from 'vitest';
import { migrationNames } from '#kernel/pg/migrate.ts';
import { createEmptyDatabase } from '#test/support/database.ts';
import { migrateServiceTo } from '#test/support/postgres/older-database.ts';

const txidOf = (id: number): Buffer => Buffer.alloc(32, id);
const shown = (id: number): string => txidOf(id).toString('hex');

test('of two plans of an older database that spend one output, the one in a block is kept, else the newest', async () => {
  const names = await migrationNames('service');
  const database = await createEmptyDatabase();
  const { pool } = database;
  try {
    await migrateServiceTo(
      database.url,
      names.findIndex((name) => name.includes('wallet_transactions')),
    );
    await pool.query(
      `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
                                   terms, expires_at)
       VALUES (gen_random_uuid(), 'direct', 'completed', 1, 1, $1, '', 'direct', 1, '{}', '{}', '{}', now())`,
      [Buffer.alloc(34, 3)],
    );
    const coin = Buffer.from('ab'.repeat(16) + 'cd'.repeat(16), 'hex');
    const shownCoin = 'cd'.repeat(16) + 'ab'.repeat(16);
    const add = (id: number, outpoint: string, isSuperseded = false) =>
      pool.query(
        `INSERT INTO service.order_transactions (txid, order_id, kind, index, files, bytes, plan, fee, made_at, superseded_at)
         SELECT $1, id, 'return', 0, 0, '', $2, 1, now() + $3 * interval '1 second', CASE WHEN $4 THEN now() END
           FROM service.orders`,
        [txidOf(id), JSON.stringify({ inputs: [{ outpoint, value: 1 }], outputs: [] }), id, isSuperseded],
      );
    await add(1, `${shownCoin}:1`);
    await add(2, `${shownCoin}:1`);
    await add(3, `${shown(9)}:0`);
    await add(4, `${shown(9)}:0`);
    await add(5, `${shown(8)}:0`, true);
    await pool.query(
      `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen, height, hash)
       VALUES ($1, 0, '\\x51', 1, now(), 7, $2)`,
      [txidOf(1), Buffer.alloc(32, 9)],
    );
    // two bumps that replace each other; a block contains the first
    for (const id of [6, 7]) {
      await pool.query(
        `INSERT INTO service.bumps (txid, family, bytes, plan, fee, virtual_bytes, own_index)
         VALUES ($1, $2, '', $3, 1, 100, 4)`,
        [
          txidOf(id),
          txidOf(6),
          JSON.stringify({
            inputs: [
              { outpoint: `${shown(id + 4)}:0`, value: 1 },
              { outpoint: `${shown(10)}:1`, value: 1 },
            ],
            outputs: [],
          }),
        ],
      );
    }
    await pool.query(
      `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen, height, hash)
       VALUES ($1, 0, '\\x51', 1, now(), 7, $2)`,
      [txidOf(6), Buffer.alloc(32, 9)],
    );
    await migrateServiceTo(database.url, names.length);
    const live = await pool.query<{ id: number }>(
      'SELECT get_byte(txid, 0) AS id FROM service.wallet_transactions WHERE superseded_at IS NULL ORDER BY 1',
    );
    expect(live.rows.map(({ id }) => id)).toEqual([1, 4, 6]);
    const spends = await pool.query(
      `SELECT get_byte(family, 0) AS family, vout FROM service.wallet_spends
        WHERE ended_at IS NULL AND txid = $1`,
      [coin],
    );
    expect(spends.rows).toEqual([{ family: 1, vout: 1 }]);
    // outputs that only the other bump spends are free
    const ofBumps = await pool.query<{ id: number }>(
      'SELECT get_byte(txid, 0) AS id FROM service.wallet_spends WHERE ended_at IS NULL AND family = $1',
      [txidOf(6)],
    );
    expect(ofBumps.rows.map(({ id }) => id)).toEqual([10, 10]);
  } finally {
    await database.drop();
  }
});
