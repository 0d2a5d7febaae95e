import fc from 'fast-check';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { putInventoryOutputs } from '#inventory/inventory.store.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asBlockHash, displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { keepReservations, reserve, type StockedSat } from '#orders/stock/reservations.store.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

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
/** Reserves sats, like a new order does. */
const order = (
  client: string,
  sats: StockedSat | readonly StockedSat[],
  more: { most?: number; ofType?: StockedSat[] } = {},
) =>
  withTransaction(database.pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
                                   terms, expires_at)
       VALUES (gen_random_uuid(), 'direct', 'waiting-payment', $1::integer, $1::integer, decode('5120' || lpad(to_hex($1::integer), 64, '0'), 'hex'), '', 'direct', 1, '{}', '{}', '{}', now())
       RETURNING id`,
      [++keys],
    );
    await reserve(tx, rows[0]!.id, [sats].flat(), { client, most: 3, ofType, ...more });
    return rows[0]!.id;
  });
const tooMany = (words: string) => ({
  code: 'inventory_reserved_max',
  message: expect.stringContaining(words) as string,
});

test.each([
  ['/24', (at: number) => `192.0.2.${at}`, '192.0.20.1'],
  ['/48', (at: number) => `2001:db8:1:${at.toString(16)}::/64`, '2001:db8:10:1::/64'],
])('the addresses of a %s may have ten together', async (_network, client, elsewhere) => {
  for (let vout = 0; vout < 10; vout++) await order(client(vout), stocked(vout));
  await expect(order(client(200), stocked(10))).rejects.toMatchObject(tooMany('of your network'));
  await order(elsewhere, stocked(10));
});

test('concurrent orders of one client have no more together', async () => {
  const made = await Promise.allSettled(
    Array.from({ length: 8 }, (_, vout) => order('192.0.2.1', stocked(vout))),
  );
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
});

test('a key with a limit of its own has that limit, and other keys do not count for it', async () => {
  for (const [vout, id] of [10, 11, 100].entries()) await order(`key(${id})`, stocked(vout), { most: 1 });
  await order('key(1)', stocked(3), { most: 1 });
  await expect(order('key(1)', stocked(4), { most: 1 })).rejects.toMatchObject(tooMany('Your orders'));
});

test('an operator who allows an address more allows its network the same', async () => {
  for (let vout = 0; vout < 12; vout++) await order('192.0.2.1', stocked(vout), { most: 12 });
  await expect(order('192.0.2.1', stocked(12), { most: 12 })).rejects.toMatchObject(tooMany('Your orders'));
});

test('unpaid orders may have half of the outputs of a type, and at least one', async () => {
  const four = ofType.slice(0, 4);
  await order('192.0.2.1', stocked(0), { ofType: four });
  // these outputs have another type
  await order('192.0.2.1', stocked(50), { ofType: [stocked(50)] });
  await order('198.51.100.1', stocked(1), { ofType: four });
  await expect(order('203.0.113.1', stocked(2), { ofType: four })).rejects.toMatchObject(
    tooMany('half of the sats'),
  );
  // after one of the orders is paid
  await database.pool.query(
    `UPDATE service.orders SET state = 'prep'
      WHERE id = (SELECT order_id FROM service.reserved_outputs WHERE vout = 0)`,
  );
  await order('203.0.113.1', stocked(2), { ofType: four });
});

test('an output that is no longer listed, or in another block, counts as taken', async () => {
  const taken = { code: 'inventory_taken' };
  await database.pool.query('DELETE FROM service.inventory_outputs WHERE vout = 5');
  await expect(order('192.0.2.1', stocked(5))).rejects.toMatchObject(taken);
  const other = displayHash(asBlockHash(Buffer.alloc(32, 2)));
  await expect(order('192.0.2.1', { ...stocked(6), blockHash: other })).rejects.toMatchObject(taken);
  await order('192.0.2.1', stocked(6));
  await expect(order('198.51.100.1', stocked(6))).rejects.toMatchObject(taken);
});

/** Indexes of the outputs with reservations that are not released. */
async function held(): Promise<number[]> {
  const { rows } = await database.pool.query<{ vout: number }>(
    'SELECT vout FROM service.reserved_outputs WHERE released_at IS NULL ORDER BY vout',
  );
  return rows.map(({ vout }) => vout);
}

test('an order of several files gets all of its sats, in the order of its files, or none', async () => {
  await order('192.0.2.1', [stocked(8), stocked(5)]);
  const { rows } = await database.pool.query('SELECT file, vout FROM service.reserved_outputs ORDER BY file');
  expect(rows).toEqual([
    { file: 0, vout: 8 },
    { file: 1, vout: 5 },
  ]);
  const three = [stocked(6), stocked(7), stocked(8)];
  await expect(order('198.51.100.1', three)).rejects.toMatchObject({
    code: 'inventory_taken',
    message: 'Another order has just taken one of these 3 sats of the inventory. Try again.',
  });
  expect(await held()).toEqual([5, 8]);
  await order('198.51.100.1', three.slice(0, 2));
  expect(await held()).toEqual([5, 6, 7, 8]);
});

test('of concurrent orders for some of the same sats, each gets all of its own or none', async () => {
  const wanted = fc.uniqueArray(fc.nat({ max: 11 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(wanted, { minLength: 2, maxLength: 6 }), async (orders) => {
      await database.pool.query('DELETE FROM service.orders');
      const made = await Promise.allSettled(
        orders.map((vouts, at) => order(`198.51.${at}.1`, vouts.map(stocked), { most: 4 })),
      );
      const own = orders.filter((_, at) => made[at]!.status === 'fulfilled');
      expect(own.length).toBeGreaterThan(0);
      for (const result of made) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'inventory_taken' });
      }
      expect(await held()).toEqual(own.flat().toSorted((a, b) => a - b));
    }),
    { numRuns: propertyRuns(10) },
  );
});

test('the bounds count sats, not orders', async () => {
  await order('192.0.2.1', [stocked(0), stocked(1)]);
  await expect(order('192.0.2.1', [stocked(2), stocked(3)])).rejects.toMatchObject(tooMany('Your orders'));
  await order('192.0.2.1', stocked(2));
  await order('192.0.2.2', [stocked(3), stocked(4), stocked(5)]);
  await order('192.0.2.3', [stocked(6), stocked(7), stocked(8)]);
  await expect(order('192.0.2.4', [stocked(9), stocked(10)])).rejects.toMatchObject(
    tooMany('can have 10 sats'),
  );
  await order('192.0.2.4', stocked(9));
  const four = ofType.slice(90, 94);
  await order('203.0.113.1', stocked(90), { ofType: four });
  await expect(order('203.0.113.1', four.slice(1, 3), { ofType: four })).rejects.toMatchObject(
    tooMany('half of the sats'),
  );
});

test('all sats of an order are released and taken again together', async () => {
  const id = await order('192.0.2.1', [stocked(0), stocked(1), stocked(2)]);
  const keep = (state: OrderState) =>
    withTransaction(database.pool, (tx) =>
      keepReservations(tx, { id, state, expiresAt: new Date(Date.now() + 60_000), paidAt: null }, new Date()),
    );
  await keep('waiting-refund');
  expect(await held()).toEqual([]);
  await keep('waiting-payment');
  expect(await held()).toEqual([0, 1, 2]);
  await keep('waiting-refund');
  // another order has one of these outputs
  const other = await order('198.51.100.1', stocked(1));
  await keep('waiting-payment');
  expect(await held()).toEqual([1]);
  await database.pool.query('UPDATE service.reserved_outputs SET released_at = now() WHERE order_id = $1', [
    other,
  ]);
  await keep('waiting-payment');
  expect(await held()).toEqual([0, 1, 2]);
});
