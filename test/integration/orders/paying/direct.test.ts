import { expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { networks } from '#kernel/primitives/network.ts';
import { refundOrder } from '#orders/operator/operator-orders.ts';
import { afterPayment } from '#orders/paying/after-payment.ts';
import { findOpenOrder } from '#orders/paying/find-open-order.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { areOrdersFollowed } from '#test/support/orders/orders-followed.ts';
import { Payer } from '#test/support/orders/payer.ts';
import { directOrders } from '#test/support/orders/paying/paid-kinds.ts';
import { testPayments } from '#test/support/orders/paying/test-payments.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';

/** The key of an address to which the operator pays back. */
const elsewhere = 29_999;

testPayments(directOrders, (room) => {
  test('in two parts, the small one first: the inscription is on the first sat of that', async () => {
    const { world } = room();
    const { order } = await world.customerOrders.create(wantedOrder(['on the first sat']));
    const payer = new Payer(world, order);
    const first = await payer.pay(1000);
    await payer.mine();
    await payer.pay(payer.amount - 1000);
    await world.deliver(order.id);
    const { transactions } = (await world.customerOrders.read(order.id))!;
    const reveal = transactions.find(({ kind }) => kind === 'reveal')!;
    expect(reveal.plan.inputs.map(({ value }) => value)).toEqual([1000, payer.amount - 1000]);
    expect(reveal.plan.inputs[0]!.outpoint.startsWith(first.txid)).toBe(true);
    expect(reveal.plan.outputs[0]).toMatchObject({ kind: 'postage', value: 546 });
  });

  test('in a way that was foretold: found by its address while it takes money, and not afterwards', async () => {
    const { world } = room();
    const { pool } = world.database;
    const { order } = await world.customerOrders.create(wantedOrder(['foretold']));
    const at = (address: string) =>
      withTransaction(pool, (client) => findOpenOrder(client, networks.regtest, { address }));
    const found = await at(order.address);
    if (found.kind !== 'open') throw new Error(found.kind);
    expect(found.order).toMatchObject({ missing: order.amount, coins: [], parents: [], isRepriced: false });
    const byId = (id: string) =>
      withTransaction(pool, (client) => findOpenOrder(client, networks.regtest, { id }));
    expect(await byId(order.id)).toMatchObject({ kind: 'open', order: { address: order.address } });
    expect(await byId('none')).toEqual({ kind: 'unknown' });
    expect(await at(addressOf(elsewhere))).toEqual({ kind: 'unknown' });
    expect(await at('bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr')).toEqual({
      kind: 'no-address',
      reason: 'belongs to another network',
    });
    expect(await at('bitcoin')).toEqual({ kind: 'no-address', reason: 'is not a Bitcoin address' });

    const payer = new Payer(world, order);
    const first = await payer.pay(900);
    await payer.mine();
    await world.eventually(async () => (await payer.missing()) > 0);
    const again = await at(order.address);
    if (again.kind !== 'open') throw new Error(again.kind);
    const { missing, coins } = again.order;
    expect(coins).toMatchObject([
      { outpoint: expect.stringMatching(first.txid) as string, value: 900n, depth: 1 },
    ]);
    const outcome = afterPayment(
      again.order,
      { coins: [{ vout: 0, value: missing, ranges: null }] },
      regtestSatributes(),
    );
    if (outcome.kind !== 'delivered') throw new Error(outcome.kind);
    const { txid } = await payer.pay(Number(missing));
    await world.until(order.id, 'waiting-confirmation');
    expect(await at(order.address)).toEqual({ kind: 'paid', state: 'waiting-confirmation' });
    await world.deliver(order.id);
    const { transactions } = (await world.customerOrders.read(order.id))!;
    expect(
      transactions.find(({ kind }) => kind === 'reveal')!.plan.inputs.map(({ outpoint }) => outpoint),
    ).toEqual(outcome.spent.map(({ outpoint, vout }) => outpoint ?? `${txid}:${vout}`));
    expect(await at(order.address)).toEqual({ kind: 'paid', state: 'completed' });
  });

  test('late, with a refund to an address of the service: waits for another address', async () => {
    const { world } = room();
    const { database, customerOrders, chain } = world;
    const { order: other } = await customerOrders.create(wantedOrder(['another']));
    const { order } = await customerOrders.create({
      ...wantedOrder(['to itself']),
      refundScript: other.script,
    });
    const payer = new Payer(world, order);
    await payer.expire();
    await payer.until('expired');
    await payer.pay(payer.amount);
    await payer.mine();
    await payer.until('waiting-refund');
    await world.wake(order.id);
    await world.eventually(() => areOrdersFollowed(database.pool, chain.rpc));
    expect((await customerOrders.read(order.id))!.transactions).toEqual([]);
    await refundOrder(database.pool, order.id, scriptOf(elsewhere));
    await world.sent(order.id, ['refund']);
    await payer.mine();
    await payer.until('refunded');
  });
});
