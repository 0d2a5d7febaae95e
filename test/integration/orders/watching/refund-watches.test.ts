import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { transactionsToSend } from '#orders/order/order-transactions.store.ts';
import { refundWatcherOf } from '#orders/watching/watchers.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { rememberedBlocks } from '#payments/store/offset.store.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { type CliResult, runCli } from '#test/support/run-cli.ts';

/** The owner of an address with many refunds, like the address of an exchange. */
const popular = 701;

describe.skipIf(bitcoindForTests() === null)('the address of a refund', () => {
  let world: OrderWorld;
  beforeAll(async () => {
    world = await OrderWorld.start();
  });
  afterAll(() => world?.close());

  const watched = async (id: string): Promise<number> =>
    (await readPayments(world.database.pool, refundWatcherOf(id))).length;
  /** The kinds of transactions that would be sent with each block if the order had been delivered a year ago. */
  async function sentIfOver(id: string): Promise<string[]> {
    const client = await world.database.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        "UPDATE service.orders SET state = 'completed', completed_at = now() - interval '1 year' WHERE id = $1",
        [id],
      );
      return (await transactionsToSend(client, null)).map(({ kind }) => kind);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }
  const eventsOf = async (id: string): Promise<number> => {
    const { rows } = await world.database.pool.query<{ count: number }>(
      'SELECT count(*) FROM service.order_events WHERE order_id = $1',
      [id],
    );
    return rows[0]!.count;
  };

  test('is watched until the refund is deeper than the blocks that payments remember, and the order stays as it is', async () => {
    const wanted = { ...wantedOrder(['short']), timeoutMinutes: 0, refundScript: scriptOf(popular) };
    const { order } = await world.customerOrders.create(wanted);
    await world.chain.pay(order.script, Number(order.amount) - 1);
    await world.until(order.id, 'waiting-refund');
    await world.chain.mineMempool();
    await world.sent(order.id, ['refund']);
    // the refund is sent again as long as it is in no block
    expect(await sentIfOver(order.id)).toEqual(['refund']);
    await world.chain.mineMempool();
    await world.until(order.id, 'refunded');
    expect(await sentIfOver(order.id)).toEqual([]);
    // for the same time, the service sees payments of others to this address
    await world.chain.pay(scriptOf(popular), 5000);
    await world.eventually(async () => (await watched(order.id)) === 2);
    await world.chain.mineEmpty(rememberedBlocks - 1);
    await world.indexed();
    await world.eventually(async () => (await world.audit(1)).differing === 0);
    expect(await watched(order.id)).toBe(2);

    await world.chain.mineEmpty(1);
    await world.eventually(async () => (await watched(order.id)) === 0);
    const events = await eventsOf(order.id);
    await world.chain.mineMempool();
    await world.indexed();
    expect((await world.audit()).differences).toEqual([]);
    // after another round, the order is still refunded
    await world.database.pool.query('UPDATE service.orders SET look_at = now() WHERE id = $1', [order.id]);
    await world.eventually(async () => {
      const { rows } = await world.database.pool.query<{ at: Date | null }>(
        'SELECT look_at AS at FROM service.orders WHERE id = $1',
        [order.id],
      );
      return rows[0]!.at === null;
    });
    expect((await world.customerOrders.read(order.id))!.order.state).toBe('refunded');
    expect(await eventsOf(order.id)).toBe(events);
    expect(world.logged.join('')).toBe('');
  });

  test('is shown to an operator who names another one too late', async () => {
    const { order } = await world.customerOrders.create({
      ...wantedOrder(['two wishes']),
      timeoutMinutes: 0,
    });
    const short = Number(order.amount) - 1;
    const [first, second] = [addressOf(702), addressOf(703)];
    const refundTo = (address: string, ...words: string[]): Promise<CliResult> =>
      runCli(['orders', 'refund', order.id, '--to', address, ...words], world.database.settings);
    await world.chain.pay(order.script, short);
    await world.until(order.id, 'waiting-refund');
    await world.chain.mineMempool();
    await world.eventually(async () => {
      const { rows } = await world.database.pool.query(
        'SELECT FROM service.ledger_entries WHERE order_id = $1',
        [order.id],
      );
      return rows.length > 0;
    });
    const asked = await refundTo(first);
    expect([asked.exitCode, asked.stderr]).toEqual([
      0,
      `${short} sats are owed. They go to ${first}, less the fee, once the payments have enough confirmations and are larger than the fee\n`,
    ]);
    await world.sent(order.id, ['refund']);
    const [refund] = (await world.customerOrders.read(order.id))!.transactions;
    const notes = [
      `a refund was already sent to ${first} in tx ${displayHash(refund!.txid)}`,
      `nothing is owed now; later payments will be refunded to ${second}`,
    ];
    const late = await refundTo(second, '--json');
    expect(late.stderr).toBe(notes.map((note) => `${note}\n`).join(''));
    expect(JSON.parse(late.stdout)).toMatchObject({
      id: order.id,
      refund: { made: [{ address: first, isSent: true }], open: 0, notes },
    });
    await world.chain.mineMempool();
    await world.until(order.id, 'refunded');
    expect((await refundTo(second)).stderr).toBe(late.stderr);
  });
});
