import { expect, test } from 'vitest';
import { refundOrder } from '#orders/operator/operator-orders.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { areOrdersFollowed } from '#test/support/orders/orders-followed.ts';
import { Payer } from '#test/support/orders/payer.ts';
import { findOrder } from '#test/support/orders/paying/foretell.ts';
import { directOrders } from '#test/support/orders/paying/paid-kinds.ts';
import { testPayments } from '#test/support/orders/paying/test-payments.ts';

/** The key of another address, to which the operator refunds. */
const elsewhere = 29_999;

testPayments(directOrders, (room) => {
  test('in two parts, the small one first: the inscription is on its first sat', async () => {
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

  test('are found by address or id while they take money, and not by other addresses', async () => {
    const { world } = room();
    const { order } = await world.customerOrders.create(wantedOrder(['found']));
    const { id, address, amount } = order;
    const open = { kind: 'open', order: { id, address, missing: amount, coins: [], parents: [] } };
    expect(await findOrder(world, { address })).toMatchObject(open);
    expect(await findOrder(world, { address: address.toUpperCase() })).toMatchObject(open);
    expect(await findOrder(world, { id })).toMatchObject(open);
    expect(await findOrder(world, { id: 'none' })).toEqual({ kind: 'unknown' });
    expect(await findOrder(world, { address: addressOf(elsewhere) })).toEqual({ kind: 'unknown' });
    const mainnet = 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr';
    expect(await findOrder(world, { address: mainnet })).toEqual({
      kind: 'no-address',
      reason: 'belongs to another network',
    });
    expect(await findOrder(world, { address: 'bitcoin' })).toEqual({
      kind: 'no-address',
      reason: 'is not a Bitcoin address',
    });
    const payer = new Payer(world, order);
    await payer.pay(payer.amount);
    await payer.until('waiting-confirmation');
    expect(await findOrder(world, { address })).toEqual({ kind: 'paid', state: 'waiting-confirmation' });
    await world.deliver(id);
    expect(await findOrder(world, { address })).toEqual({ kind: 'paid', state: 'completed' });
  });

  test('late, with a refund to an address of the service: wait for another address', async () => {
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
