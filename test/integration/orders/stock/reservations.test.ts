import { beforeAll, beforeEach, expect, test } from 'vitest';
import { putInventoryOutputs } from '#inventory/inventory.store.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asBlockHash, displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { reserve, type StockedSat } from '#orders/stock/reservations.store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

const outputs = 100;
const blockHash = displayHash(asBlockHash(Buffer.alloc(32, 1)));
const stocked = (vout: number): StockedSat => ({
  txid: trustedTxid(Buffer.alloc(32, 7)),
  vout,
  value: 10_000,
  keyIndex: 0,
  height: asHeight(1),
  blockHash,
  place: 0,
  sat: vout,
});
const ofType = Array.from({ length: outputs }, (_, vout) => stocked(vout));

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await database.pool.query('DELETE FROM service.orders; DELETE FROM service.inventory_outputs');
  await putInventoryOutputs(
    database.pool,
    ofType.map(({ txid, vout, height }) => ({
      txid,
      vout,
      value: asSats(10_000),
      script: Buffer.from('6a', 'hex'),
      height,
      blockHash,
      ranges: [{ start: vout * 10_000, end: vout * 10_000 + 10_000 }],
    })),
  );
});

let keys = 0;
/** As a creation does. */
const order = (client: string, sat: StockedSat, more: { most?: number; ofType?: StockedSat[] } = {}) =>
  withTransaction(database.pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
                                   terms, expires_at)
       VALUES (gen_random_uuid(), 'direct', 'waiting-payment', $1::integer, $1::integer, decode('5120' || lpad(to_hex($1::integer), 64, '0'), 'hex'), '', 'direct', 1, '{}', '{}', '{}', now())
       RETURNING id`,
      [++keys],
    );
    await reserve(tx, rows[0]!.id, sat, { client, most: 3, ofType, ...more });
  });
const tooMany = (words: string) => ({
  code: 'inventory_reserved_max',
  message: expect.stringContaining(words) as string,
});

test.each([
  ['/24', (at: number) => `192.0.2.${at}`, '192.0.20.1'],
  ['/48', (at: number) => `2001:db8:1:${at.toString(16)}::/64`, '2001:db8:10:1::/64'],
])('the addresses of a %s have ten together', async (_network, client, elsewhere) => {
  for (let vout = 0; vout < 10; vout++) await order(client(vout), stocked(vout));
  await expect(order(client(200), stocked(10))).rejects.toMatchObject(tooMany('of your network'));
  await order(elsewhere, stocked(10));
});

test('orders of one client that are made at once have no more together', async () => {
  const made = await Promise.allSettled(
    Array.from({ length: 8 }, (_, vout) => order('192.0.2.1', stocked(vout))),
  );
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
});

test('a key with a limit of its own has that, and no other key counts for it', async () => {
  for (const [vout, id] of [10, 11, 100].entries()) await order(`key(${id})`, stocked(vout), { most: 1 });
  await order('key(1)', stocked(3), { most: 1 });
  await expect(order('key(1)', stocked(4), { most: 1 })).rejects.toMatchObject(tooMany('of yours'));
});

test('an operator who lets an address have more lets its network', async () => {
  for (let vout = 0; vout < 12; vout++) await order('192.0.2.1', stocked(vout), { most: 12 });
  await expect(order('192.0.2.1', stocked(12), { most: 12 })).rejects.toMatchObject(tooMany('of yours'));
});

test('orders that are not paid have half of the outputs of a type, and one at least', async () => {
  const four = ofType.slice(0, 4);
  await order('192.0.2.1', stocked(0), { ofType: four });
  // of another type
  await order('192.0.2.1', stocked(50), { ofType: [stocked(50)] });
  await order('198.51.100.1', stocked(1), { ofType: four });
  await expect(order('203.0.113.1', stocked(2), { ofType: four })).rejects.toMatchObject(
    tooMany('Half of the sats'),
  );
  // once one is paid
  await database.pool.query(
    `UPDATE service.orders SET state = 'prep'
      WHERE id = (SELECT order_id FROM service.reserved_outputs WHERE vout = 0)`,
  );
  await order('203.0.113.1', stocked(2), { ofType: four });
});

test('an output that is off the list, or in another block there, is taken', async () => {
  const taken = { code: 'inventory_taken' };
  await database.pool.query('DELETE FROM service.inventory_outputs WHERE vout = 5');
  await expect(order('192.0.2.1', stocked(5))).rejects.toMatchObject(taken);
  const other = displayHash(asBlockHash(Buffer.alloc(32, 2)));
  await expect(order('192.0.2.1', { ...stocked(6), blockHash: other })).rejects.toMatchObject(taken);
  await order('192.0.2.1', stocked(6));
  await expect(order('198.51.100.1', stocked(6))).rejects.toMatchObject(taken);
});
