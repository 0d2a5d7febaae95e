import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { copyServiceRows } from '#test/support/orders/service-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { openPublicWallet } from '#wallet/public-wallet.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
});
afterAll(() => http.close());

const file = { name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' };
const direct = { files: [file], receiveAddress: addressOf(700), fee: '3' };
/** An order that is paid to the wallet. Without a leaf, the address depends only on the key. */
const managed = { ...direct, files: [file, file], uncurseIt: true };

/** Lets a script be known as an address of another order. */
const watched = `INSERT INTO service.watched_scripts (script, watcher, since_height) VALUES ($1, 'order elsewhere', 0)`;

async function addressOfOrder(body: object): Promise<string> {
  const made = await http.post<{ id?: string }>('/inscribe', body);
  expect(made.status).toBe(200);
  const read = await http.get<{ charge: { address: string } }>(`/order/${made.body.id}`);
  return read.body.charge.address;
}

/** The key of the next order. It is the next of the keys that the service has in memory. */
async function nextKeyIndex(): Promise<number> {
  const { rows } = await http.database.pool.query<{ next: number }>(
    'SELECT coalesce(max(key_index) + 1, 0) AS next FROM service.orders',
  );
  return rows[0]!.next;
}

// the last test stops the release of addresses
describe('addresses of orders', { shuffle: false }, () => {
  test('after a restore no order gets the address of an order that is missing in the older database', async () => {
    const { database } = http;
    const older = await createTestDatabase();
    try {
      const before = await addressOfOrder(managed);
      await copyServiceRows(database, older);
      const victims = [await addressOfOrder(managed), await addressOfOrder(direct)];
      // do this while everything runs
      await copyServiceRows(older, database);
      await waitUntil(async () => (await readRelease(database.pool))?.isLive === true);
      const attackers = [await addressOfOrder(managed), await addressOfOrder(direct)];
      expect(new Set([before, ...victims, ...attackers]).size).toBe(5);
    } finally {
      await older.drop();
    }
  });

  test.each([
    ['watched', watched],
    [
      'paid',
      `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen)
     VALUES (sha256($1), 0, $1, 1000, now())`,
    ],
    [
      'paid, as the index of addresses knows',
      'INSERT INTO chain.outputs (value, height, vout, txid, script) VALUES (1000, 1, 0, sha256($1), $1)',
    ],
  ])('no order gets an address that was %s before: it is skipped for good', async (_, statement) => {
    const { pool } = http.database;
    const indexer = await pool.connect();
    await ensureSecondaryIndexes(indexer).finally(() => indexer.release());
    const wallet = await openPublicWallet(pool);
    const next = await nextKeyIndex();
    for (const index of [next, next + 1])
      await pool.query(statement, [Buffer.from(wallet!.orderAddress(index, null).script)]);
    expect(await addressOfOrder(managed)).toBe(wallet!.orderAddress(next + 2, null).address);
    expect(await nextKeyIndex()).toBe(next + 3);
  });

  test('an order with a known address sends only its first statement before it gets later keys', async () => {
    const { pool } = http.database;
    // a rollback leaves a sequence as it is, so the sequence also counts statements that were undone
    await pool.query(`CREATE SEQUENCE public.leaf_statements;
      CREATE FUNCTION public.count_leaf_statement() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN PERFORM nextval('public.leaf_statements'); RETURN NULL; END $$;
      CREATE TRIGGER counted AFTER INSERT ON service.order_leaves EXECUTE FUNCTION public.count_leaf_statement()`);
    const wallet = await openPublicWallet(pool);
    const next = await nextKeyIndex();
    await pool.query(watched, [Buffer.from(wallet!.orderAddress(next, null).script)]);
    // leaves of more than 1 MB are stored with two statements
    const bytes = Buffer.alloc(380_000, 'a');
    const large = {
      name: 'a.txt',
      size: bytes.length,
      dataURL: `data:text/plain;base64,${bytes.toString('base64')}`,
    };
    expect(await addressOfOrder({ ...managed, files: [large, large, large] })).toBe(
      wallet!.orderAddress(next + 1, null).address,
    );
    const { rows } = await pool.query<{ count: number }>(
      'SELECT last_value AS count FROM public.leaf_statements',
    );
    expect(rows).toEqual([{ count: 1 + 2 }]);
  });

  test('no order is taken without a process that releases addresses, and the answer says so', async () => {
    await http.endReleases();
    const refused = await http.post('/inscribe', direct);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '60']);
    expect(JSON.stringify(refused.body)).toContain('no address of the wallet can be shown now');
  });
});
