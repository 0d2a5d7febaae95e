import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressBalance, addressOutputs } from '#chain/outputs/address.queries.ts';
import { inscriptionsOutside } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { ownerScript, writeListedRows } from '#test/support/listed-rows.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await writeListedRows(database.pool, { count: 400, perBlock: 20 });
  // of every third one is spent
  await database.pool.query(
    `INSERT INTO chain.outputs (value, height, spent_height, vout, txid, script)
     SELECT k, k, CASE WHEN k % 3 = 0 THEN 99 END, 0, sha256(k::text::bytea), $1 FROM generate_series(1, 90) AS k`,
    [ownerScript(7)],
  );
});
afterAll(() => database.drop());

test('of the lost ones no more are read than are asked for', async () => {
  const lost = await withSnapshot(
    database.pool,
    ({ client }) => inscriptionsOutside(client, 'lost', 1_000),
    null,
  );
  expect(lost).toHaveLength(31);
  const first = await withSnapshot(
    database.pool,
    ({ client }) => inscriptionsOutside(client, 'lost', 5),
    null,
  );
  expect(first).toEqual(lost.slice(0, 5));
});

test('an address is summed as its outputs say, and no further than it is asked for', async () => {
  await withSnapshot(
    database.pool,
    async ({ client }) => {
      const outputs = await addressOutputs(client, ownerScript(7), 1_000);
      const sats = outputs.reduce((sum, { value }) => sum + value, 0);
      expect(await addressBalance(client, ownerScript(7), 1_000)).toEqual({ outputs: 60, sats });
      expect((await addressBalance(client, ownerScript(7), 10)).outputs).toBe(11);
      expect(await addressBalance(client, ownerScript(8), 10)).toEqual({ outputs: 0, sats: 0 });
    },
    null,
  );
});
