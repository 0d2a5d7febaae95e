import { afterEach, describe, expect, test } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { showOrder } from '#orders/order-office.ts';
import { transactionsToSend } from '#orders/order-transactions.store.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { waitUntil } from '#test/support/wait-until.ts';

/** Well below the minute after which everything is sent again anyway. */
const atOnceMs = 40_000;

describe.skipIf(bitcoindForTests() === null)('transactions of orders that a node does not take', () => {
  let world: OrderWorld;
  afterEach(() => world?.close());

  /** An order that is paid in a block. */
  async function paid(...wanted: Parameters<typeof wantedOrder>): Promise<string> {
    const { order } = await world.desk.create(wantedOrder(...wanted));
    await world.chain.pay(order.script, Number(order.amount));
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    return order.id;
  }

  const mempool = () => world.bitcoind.rpc.call<string[]>('getrawmempool');

  test('are sent again at once to a node that was started again and forgot its mempool', async () => {
    world = await OrderWorld.start({ extra: ['-persistmempool=0'] });
    const id = await paid(['forgotten']);
    await world.sent(id);
    const before = await mempool();
    expect(before).toHaveLength(1);
    await world.bitcoind.restart();
    await waitUntil(async () => expect(await mempool()).toEqual(before), { limitMs: atOnceMs });
    await world.chain.mineMempool();
    await world.until(id, 'completed');
  });

  test('for ever are told with the order, until a node takes them', async () => {
    // 546 sats are dust for this node
    world = await OrderWorld.start({ extra: ['-dustrelayfee=0.00006'] });
    const id = await paid(['never taken']);
    const [reveal] = await world.eventually(async () => {
      const { order, transactions } = (await world.desk.read(id))!;
      return order.error !== null && transactions;
    });
    const shown = await showOrder(world.database.pool, id);
    expect(shown).toMatchObject({
      state: 'queued',
      error: `The node refuses transaction ${displayHash(reveal!.txid)}: dust, tx with dust output must be 0-fee`,
      transactions: [{ sentAt: null, refusal: 'dust, tx with dust output must be 0-fee' }],
    });
  });

  test('because too many depend on each other are not even sent, and one place stays free', async () => {
    world = await OrderWorld.start({ extra: ['-limitclustercount=4'] });
    const texts = ['one', 'two', 'three', 'four', 'five'];
    const id = await paid(texts, { uncurse: true });
    await world.eventually(async () => (await mempool()).length === 3);
    const waiting = (await world.desk.read(id))!.transactions.filter(({ sentAt }) => sentAt === null);
    // nobody asked the node in vain
    expect(waiting.map(({ refusal }) => refusal)).toEqual([null, null, null]);
    await world.chain.mineMempool();
    await world.sent(id);
    await world.chain.mineMempool();
    await world.until(id, 'completed');
  });

  test('have the size that the node gives them', async () => {
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
