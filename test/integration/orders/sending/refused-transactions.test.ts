import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { refundOrder, showOrder } from '#orders/operator/operator-orders.ts';
import { transactionsToSend } from '#orders/order/order-transactions.store.ts';
import { TransactionSender } from '#orders/sending/send-transactions.ts';
import { type RegtestTransaction, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/**
 * Maximum duration that counts as "at once", in ms. It is well below the minute after which everything is sent again
 * anyway.
 */
const atOnceMs = 40_000;

const refunded = 701;

describe.skipIf(bitcoindForTests() === null)('transactions of orders that a node refuses', () => {
  let world: OrderWorld;
  afterEach(() => world?.close());

  /** Makes an order that is paid in a block. */
  async function paid(...wanted: Parameters<typeof wantedOrder>): Promise<string> {
    const { order } = await world.customerOrders.create(wantedOrder(...wanted));
    await world.chain.pay(order.script, Number(order.amount));
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    return order.id;
  }

  const mempool = () => world.bitcoind.rpc.call<string[]>('getrawmempool');

  test('are sent again at once to a restarted node that forgot its mempool', async () => {
    world = await OrderWorld.start({ extra: ['-persistmempool=0'] });
    const id = await paid(['forgotten']);
    await world.sent(id);
    const before = await mempool();
    expect(before).toHaveLength(1);
    // if a node restarts within its first second, the service cannot notice it, because `uptime` has whole seconds
    await waitUntil(async () => (await world.bitcoind.rpc.call<number>('uptime')) >= 2);
    await world.bitcoind.restart();
    await waitUntil(async () => expect(await mempool()).toEqual(before), { limitMs: atOnceMs });
    await world.chain.mineMempool();
    await world.until(id, 'completed');
  });

  test('for ever are shown with the order, until a node takes them', async () => {
    // 546 sats are dust for this node
    world = await OrderWorld.start({ extra: ['-dustrelayfee=0.00006'] });
    const id = await paid(['never taken']);
    const [reveal] = await world.eventually(async () => {
      const { order, transactions } = (await world.customerOrders.read(id))!;
      return order.error !== null && transactions;
    });
    const shown = await showOrder(world.database.pool, id);
    expect(shown).toMatchObject({
      state: 'queued',
      error: `The node refuses transaction ${displayHash(reveal!.txid)}: dust, tx with dust output must be 0-fee`,
      transactions: [{ sentAt: null, refusal: 'dust, tx with dust output must be 0-fee' }],
    });
  });

  test('for ever are refunded at the operator’s request, once, and never sent again', {
    tags: ['proof'],
  }, async () => {
    world = await OrderWorld.start({ extra: ['-dustrelayfee=0.00006'] });
    const id = await paid(['refunded']);
    await world.eventually(async () => (await world.customerOrders.read(id))!.order.error !== null);
    const { order } = (await world.customerOrders.read(id))!;
    await expect(refundOrder(world.database.pool, id, order.script)).rejects.toMatchObject({
      code: 'destination_own',
    });
    await expect(refundOrder(world.database.pool, id, Uint8Array.of(0x51))).rejects.toMatchObject({
      code: 'destination_refused',
    });
    await refundOrder(world.database.pool, id, scriptOf(refunded));
    await world.until(id, 'waiting-refund');
    await world.sent(id);
    const made = (await world.customerOrders.read(id))!.transactions;
    expect(made.map(({ kind }) => kind)).toEqual(['refund']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    expect((await world.audit()).differences).toEqual([]);
  });

  test('but that someone mines are delivered after all, and not refunded', async () => {
    world = await OrderWorld.start({ extra: ['-dustrelayfee=0.00006'] });
    const id = await paid(['mined elsewhere']);
    const [reveal] = await world.eventually(async () => {
      const { order, transactions } = (await world.customerOrders.read(id))!;
      return order.error !== null && transactions;
    });
    await refundOrder(world.database.pool, id, scriptOf(refunded));
    await world.until(id, 'waiting-refund');
    await world.sent(id, ['refund']);
    const { rows } = await world.database.pool.query<{ bytes: Buffer }>(
      'SELECT bytes FROM service.wallet_transactions WHERE txid = $1',
      [reveal!.txid],
    );
    const hex = rows[0]!.bytes.toString('hex');
    const mined: RegtestTransaction = {
      hex,
      fee: reveal!.fee,
      txid: displayHash(reveal!.txid),
      coins: [],
      coin: (vout) => {
        throw new Error(`output ${vout} has no owner in this test`);
      },
      id: (index = 0) => `${displayHash(reveal!.txid)}i${index}`,
    };
    await world.chain.mine([mined]);
    await world.until(id, 'completed');
    const made = (await world.customerOrders.read(id))!.transactions;
    expect(made.map(({ kind, txid }) => [kind, displayHash(txid)])).toEqual([
      ['reveal', displayHash(reveal!.txid)],
    ]);
    expect((await world.audit()).differences).toEqual([]);
  });

  test('that it took later are not refunded', async () => {
    world = await OrderWorld.start();
    const id = await paid(['taken']);
    await world.sent(id);
    const { refundScript: scriptBefore } = await showOrder(world.database.pool, id);
    await refundOrder(world.database.pool, id, scriptOf(refunded));
    await world.eventually(async () => {
      const { error, state, events, refundScript } = await showOrder(world.database.pool, id);
      // a refund of a delivered order goes to the customer, not to the address of this request
      expect(refundScript).toBe(scriptBefore);
      expect(events.at(-1)).toMatchObject({ event: 'refunding', from: 'queued', to: null });
      expect({ error, state }).toEqual({
        error:
          'The order is not refunded, because the mempool or a block has a transaction that spends its payments.',
        state: 'queued',
      });
    });
    await world.chain.mineMempool();
    await world.until(id, 'completed');
    expect((await world.audit()).differences).toEqual([]);
  });

  test('because of the limit of dependents are not even sent, and one place stays free', async () => {
    world = await OrderWorld.start({ extra: ['-limitclustercount=4'] });
    const texts = ['one', 'two', 'three', 'four', 'five'];
    const id = await paid(texts, { uncurse: true });
    await world.eventually(async () => (await mempool()).length === 3);
    const waiting = (await world.customerOrders.read(id))!.transactions.filter(
      ({ sentAt }) => sentAt === null,
    );
    // the service did not send these to the node in vain
    expect(waiting.map(({ refusal }) => refusal)).toEqual([null, null, null]);
    // process an order between blocks
    const client = await world.database.pool.connect();
    try {
      const parts = {
        client,
        node: world.bitcoind.rpc,
        log: pino({ level: 'silent' }),
        signal: new AbortController().signal,
      };
      await new TransactionSender(parts).send([id], { count: 4, virtualBytes: 101_000 });
    } finally {
      client.release();
    }
    expect(await mempool()).toHaveLength(3);
    await world.chain.mineMempool();
    await world.sent(id);
    await world.chain.mineMempool();
    await world.until(id, 'completed');
  });

  test('have the size that the node reports', async () => {
    world = await OrderWorld.start();
    const id = await paid(['one', 'two'], { uncurse: true });
    await world.sent(id);
    const client = await world.database.pool.connect();
    try {
      const made = await transactionsToSend(client, null);
      expect(made).toHaveLength(3);
      for (const { txid, virtualBytes } of made) {
        const entry = await world.bitcoind.rpc.call<{ vsize: number }>('getmempoolentry', [
          displayHash(txid),
        ]);
        expect(virtualBytes).toBe(entry.vsize);
      }
    } finally {
      client.release();
    }
  });
});
