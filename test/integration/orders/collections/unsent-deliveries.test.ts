import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { refundOrder } from '#orders/operator/operator-orders.ts';
import { TransactionSender } from '#orders/sending/send-transactions.ts';
import { addressOf, type RegtestTransaction, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { insertCollection, requireExactCounts } from '#test/support/collections/collection-rows.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { testAccess } from '#test/support/http/search-access.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';

interface Ordered {
  readonly id: string;
  readonly charge: { readonly amount: number };
}

const receiver = 70_000;
const refunded = 70_001;

describe.skipIf(bitcoindForTests() === null)('a signed delivery of a collection that was never sent', () => {
  let world: OrderWorld;
  let app: App;
  let close: () => Promise<void>;
  beforeAll(async () => {
    world = await OrderWorld.start();
    const access = testAccess(world.database.accessPool, { mode: 'open' });
    app = buildCheckedApp({
      ...readerParts(world.database.readers),
      node: world.bitcoind.rpc,
      orders: world.customerOrders,
      access: access.access,
    });
    close = async () => {
      await app.close();
      await access.close();
      await world.close();
    };
  }, 180_000);
  afterAll(() => close?.());

  const post = (id: string, remoteAddress: string) =>
    app.inject({
      method: 'POST',
      url: '/collectionorder',
      payload: {
        collection: { id, count: 1 },
        receiveAddress: addressOf(receiver),
        refundAddress: addressOf(refunded),
        fee: 2,
        token: 'solved',
      },
      remoteAddress,
    });

  const standingOf = async (id: string): Promise<unknown> => {
    const { rows } = await world.database.pool.query<{ standing: string }>(
      'SELECT standing FROM service.mint_orders WHERE order_id = $1',
      [id],
    );
    return rows[0]?.standing;
  };

  /** Makes an order of the only item of a collection. Its delivery is unsent, and its refund is in the mempool. */
  async function beingRefunded(collection: string): Promise<{ id: string; delivery: RegtestTransaction[] }> {
    await new CustomerFiles(join(world.dir, 'files')).put(Buffer.from('0'));
    await insertCollection(world.database.pool, {
      id: collection,
      items: 1,
      price: 50_000,
      creatorAddress: addressOf(70_002),
    });
    const sending = vi.spyOn(TransactionSender.prototype, 'send').mockResolvedValue();
    const answer = await post(collection, '10.9.0.1');
    const { id, charge } = answer.json<Ordered>();
    const { order } = (await world.customerOrders.read(id))!;
    await world.chain.pay(order.script, charge.amount);
    await world.chain.mineMempool();
    await world.until(id, 'queued');
    const { rows } = await world.database.pool.query<{ bytes: Buffer; txid: Buffer; fee: number }>(
      `SELECT bytes, txid, fee FROM service.wallet_transactions WHERE order_id = $1
        ORDER BY made_at, kind`,
      [id],
    );
    const delivery = rows.map(({ bytes, txid, fee }): RegtestTransaction => {
      const shown = displayHash(txid);
      return {
        hex: bytes.toString('hex'),
        fee: Number(fee),
        txid: shown,
        coins: [],
        coin: (vout) => {
          throw new Error(`output ${vout} is not of the tests`);
        },
        id: (index = 0) => `${shown}i${index}`,
      };
    });
    await refundOrder(world.database.pool, id, scriptOf(refunded));
    await world.until(id, 'waiting-refund');
    sending.mockRestore();
    await world.wake(id);
    await world.sent(id, ['refund']);
    return { id, delivery };
  }

  test('keeps its item from others while a block may have it, and is delivered once', async () => {
    const { id, delivery } = await beingRefunded('mined');
    expect([await standingOf(id), (await post('mined', '10.9.0.2')).statusCode]).toEqual(['allowed', 400]);
    expect((await world.audit()).collections).toEqual([]);
    await world.chain.mine(delivery);
    await world.until(id, 'completed');
    expect((await post('mined', '10.9.0.3')).statusCode).toBe(400);
    await requireExactCounts(world.database.pool, 'mined');
    expect(await world.audit()).toMatchObject({ differences: [], collections: [] });
  });

  test('frees its item once the refund is deep', async () => {
    const { id } = await beingRefunded('paid-back');
    expect((await post('paid-back', '10.9.0.4')).statusCode).toBe(400);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.eventually(async () => (await standingOf(id)) === 'released');
    expect((await post('paid-back', '10.9.0.5')).statusCode).toBe(200);
    await requireExactCounts(world.database.pool, 'paid-back');
    expect(await world.audit()).toMatchObject({ differences: [], collections: [] });
  });
});
