import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type AddressOutput,
  addressBalance,
  addressOutputs,
  allAddressOutputs,
  inscribedOutputs,
  type OutputOrder,
  outpointBytes,
} from '#chain/outputs/address.queries.ts';
import { inscriptionsOutside } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { ownerScript, writeListedRows } from '#test/support/chain/rows/listed-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await writeListedRows(database.pool, { count: 3_000, perBlock: 20 });
  // every third output is spent
  await database.pool.query(
    `INSERT INTO chain.outputs (value, height, spent_height, vout, txid, script)
     SELECT k, k, CASE WHEN k % 3 = 0 THEN 99 END, 0, sha256(k::text::bytea), $1 FROM generate_series(1, 90) AS k`,
    [ownerScript(7)],
  );
  // three transactions, with output indexes of one byte and of two bytes
  await database.pool.query(
    `INSERT INTO chain.outputs (value, height, vout, txid, script)
     SELECT 546, 0, k, sha256((k % 3)::text::bytea), $1 FROM generate_series(1, 2500) AS k`,
    [ownerScript(9)],
  );
  // one output gets more inscriptions than are read at once
  await database.pool.query(
    `UPDATE chain.locations SET txid = sha256('one') WHERE key >= 400 AND spent_height IS NULL AND script = $1`,
    [ownerScript(0)],
  );
});
afterAll(() => database.drop());

test('lost inscriptions are listed whole, and refused where there are more', async () => {
  const lost = (most: number) =>
    withSnapshot(database.pool, ({ client }) => inscriptionsOutside(client, 'lost', most), null);
  const { rows } = await database.pool.query<{ txid: Buffer }>(
    'SELECT txid FROM chain.inscriptions WHERE key % 13 = 0 ORDER BY key',
  );
  expect((await lost(231)).map(({ txid }) => txid)).toEqual(rows.map(({ txid }) => txid));
  await expect(lost(230)).rejects.toMatchObject({ code: 'address_too_large' });
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

const parts = async (order: OutputOrder, most: number): Promise<AddressOutput[][]> =>
  withSnapshot(
    database.pool,
    async ({ client }) => {
      const read: AddressOutput[][] = [];
      for await (const part of allAddressOutputs(client, ownerScript(9), { order, most })) read.push(part);
      return read;
    },
    null,
  );

test('all outputs of an address are read in parts that a turn can take, in both orders of ord', async () => {
  const byNumber = await parts('number', 2_500);
  expect(byNumber.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
  const outputs = byNumber.flat();
  expect(outputs).toEqual(outputs.toSorted((a, b) => Buffer.compare(a.txid, b.txid) || a.vout - b.vout));
  const byBytes = (await parts('bytes', 2_500)).flat();
  expect(byBytes).toEqual(outputs.toSorted((a, b) => outpointBytes(a).compare(outpointBytes(b))));
  expect(byBytes).not.toEqual(outputs);
});

test('an address with more outputs than asked for is refused', async () => {
  await expect(parts('number', 2_499)).rejects.toMatchObject({ code: 'address_too_large' });
});

test('outputs with inscriptions are listed once each, and refused by their number and by that of inscriptions', async () => {
  const list = (most: number, inscriptionsMost: number) =>
    withSnapshot(
      database.pool,
      ({ client }) => inscribedOutputs(client, ownerScript(0), { order: 'bytes', most }, inscriptionsMost),
      null,
    );
  const { rows } = await database.pool.query<{ txid: Buffer; inscriptions: number }>(
    `SELECT coalesce(l.txid, i.txid) AS txid, count(*) AS inscriptions
     FROM chain.locations l JOIN chain.inscriptions i USING (key)
     WHERE l.spent_height IS NULL AND l.script = $1 GROUP BY 1 ORDER BY 1`,
    [ownerScript(0)],
  );
  const inscriptions = rows.reduce((sum, row) => sum + row.inscriptions, 0);
  expect(Math.max(...rows.map((row) => row.inscriptions))).toBeGreaterThan(1_000);
  const outputs = await list(rows.length, inscriptions);
  expect(outputs.map(({ txid }) => Buffer.from(txid))).toEqual(rows.map(({ txid }) => txid));
  const refused = { code: 'address_too_large' };
  await expect(list(rows.length - 1, inscriptions)).rejects.toMatchObject(refused);
  await expect(list(rows.length, inscriptions - 1)).rejects.toMatchObject(refused);
});
