import type { ClientBase } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runeDetail, runesDownFrom } from '#chain/runes/rune.queries.ts';
import { runeActivity } from '#chain/runes/rune-activity.queries.ts';
import { runeTotals } from '#chain/runes/rune-holders.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { runeIndexes } from '#indexer/derived/runes/rune-indexes.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

const runes = 200;
const mints = 20_000;
const [common, without] = [0, 7];
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  await pool.query(
    `INSERT INTO chain.runes (key, height, tx_index, spacers, divisibility, turbo, has_terms, timestamp, rune, premine, txid)
     SELECT k, 1, k, 0, 0, false, false, 0, 1000000 + k, 0, sha256(k::text::bytea) FROM generate_series(0, $1 - 1) AS k`,
    [runes],
  );
  // all mints belong to one rune, and the statistics say so
  await pool.query(
    `INSERT INTO chain.rune_mints (rune_key, height, mints, tx_indexes)
     SELECT 0, 2 + k, k + 1, ARRAY[k % 1000] FROM generate_series(0, $1 - 1) AS k`,
    [mints],
  );
  await pool.query(
    `INSERT INTO chain.rune_burns (rune_key, height, tx_index, amount, total, txid)
     SELECT 0, 2 + k / 1000, k % 1000, 1, k + 1, sha256(k::text::bytea) FROM generate_series(0, $1 - 1) AS k`,
    [mints],
  );
  for (const [name, { table, columns, where }] of Object.entries(runeIndexes))
    await pool.query(
      `CREATE INDEX ${name} ON ${table} (${columns}) ${where === undefined ? '' : `WHERE ${where}`}`,
    );
  await pool.query('ANALYZE chain.runes, chain.rune_mints, chain.rune_burns');
});
afterAll(() => database.drop());

/** Result of `read`, and the number of rows of mints and burns that it reads. */
async function counted<Value>(
  read: (client: ClientBase) => Promise<Value>,
): Promise<{ readonly value: Value; readonly rows: number }> {
  return withSnapshot(
    database.pool,
    async ({ client }) => {
      const rowsRead = async (): Promise<number> => {
        const { rows } = await client.query<{ read: number }>(
          `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer AS read
           FROM pg_stat_xact_user_tables WHERE relname IN ('rune_mints', 'rune_burns')`,
        );
        return rows[0]?.read ?? 0;
      };
      const before = await rowsRead();
      const value = await read(client);
      return { value, rows: (await rowsRead()) - before };
    },
    null,
  );
}

test('a rune without mints reads none, where another one has all', async () => {
  const one = await counted((client) => runeDetail(client, { kind: 'number', number: BigInt(without) }));
  expect(one).toMatchObject({ value: { mints: 0, burned: 0 }, rows: 0 });
  const page = await counted((client) => runesDownFrom(client, runes - 1, 51));
  expect(page.value).toHaveLength(51);
  expect(page.rows).toBe(0);
  const totals = await counted((client) => runeTotals(client, without, asHeight(12_000)));
  expect(totals).toEqual({ value: { mints: 0, burned: 0 }, rows: 0 });
  for (const order of ['asc', 'desc'] as const) {
    const activity = await counted((client) =>
      runeActivity(client, without, { order, limit: 100, after: null }),
    );
    // the planner reads the row at which an index ends
    expect(activity.rows).toBeLessThanOrEqual(1);
  }
});

test('the rune that has them reads its newest one', async () => {
  const one = await counted((client) => runeDetail(client, { kind: 'number', number: BigInt(common) }));
  expect(one).toMatchObject({ value: { mints, burned: mints }, rows: 2 });
  const totals = await counted((client) => runeTotals(client, common, asHeight(12_000)));
  expect(totals).toEqual({ value: { mints: 11_999, burned: mints }, rows: 2 });
});
