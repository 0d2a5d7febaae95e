import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Coin, type NewOutput, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { home, lentParents, owner, p2pkhHome } from '#test/support/orders/lent-parents.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';

describe.skipIf(bitcoindForTests() === null)('parents that no delivery uses', () => {
  let world: OrderWorld;
  beforeAll(async () => {
    world = await OrderWorld.start({}, 160);
  });
  afterAll(() => world?.close());
  const { inscribed, termsOf, ordered, to, send, shown, expectAt, expectChildren, accounts, audited } =
    lentParents(() => world);

  test('that are another inscription go home while the order waits, once there is money for it', async () => {
    const [parent] = await inscribed(['the right one']);
    const [wrong] = await inscribed(['a wrong one'], 3000);
    const { id, deposits, charge } = await ordered(['l'], [termsOf(parent!)]);
    await send([wrong!], [to(deposits[0], wrong!)]);
    await world.until(id, 'waiting-payment');
    await world.chain.mineMempool();
    await world.until(id, 'waiting-parent');
    await world.eventually(async () => (await shown(id)).error?.includes('goes home once') === true);
    // the payment alone is what the delivery takes
    await send([], [charge, { ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    expect(await shown(id)).not.toHaveProperty('error');
    await world.chain.mineMempool();
    await world.indexed();
    await expectAt(wrong!, scriptOf(home));
    await send([parent!], [to(deposits[0], parent!)]);
    await world.deliver(id);
    await expectChildren(id, ['l'], [parent!]);
    // what was paid too much goes back
    await world.sent(id, ['refund']);
    await world.chain.mineMempool();
    await world.eventually(async () => (await accounts(id))['owed'] === undefined);
    const { postage, service, deposit } = await audited(id);
    expect({ postage, service, deposit }).toEqual({ postage: 546, service: 2000 });
  });

  test('with a home that is an address of the service stay, and say why', async () => {
    const [parent] = await inscribed(['to itself']);
    const other = await ordered(['o'], []);
    const { id, deposits, charge } = await ordered(
      ['n'],
      [termsOf(parent!, Buffer.from(other.charge.outputScript!))],
      { timeoutMinutes: -1 },
    );
    await world.until(id, 'expired');
    await send([parent!], [to(deposits[0], parent!), { ...charge, value: 30_000 }]);
    await world.until(id, 'waiting-refund');
    await world.chain.mineMempool();
    await world.eventually(async () => (await shown(id)).error?.includes('sends nothing to itself') === true);
    expect((await world.customerOrders.read(id))!.transactions).toEqual([]);
  });

  test('of an order that is over go home, with the refund, paid by it', async () => {
    const [parent] = await inscribed(['too late']);
    const { id, deposits, charge } = await ordered(['m'], [termsOf(parent!)], { timeoutMinutes: -1 });
    await world.until(id, 'expired');
    await send([parent!], [to(deposits[0], parent!), { ...charge, value: 30_000 }]);
    await world.until(id, 'waiting-refund');
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    const { outside = 0, fee: paid = 0, ...others } = await audited(id);
    expect(others).toEqual({});
    expect(-outside).toBe(paid);
    expect(paid).toBeLessThan(30_000);
    const { parentReturnTx } = (await shown(id)).parents[0]!;
    expect(parentReturnTx).toMatch(/^[0-9a-f]{64}$/u);
    // a reorganisation takes the way home back for a while
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await world.until(id, 'waiting-refund');
    expect((await accounts(id))['deposit']).toBe(10_000);
    await world.eventually(async () =>
      (await world.bitcoind.rpc.call<string[]>('getrawmempool')).includes(parentReturnTx!),
    );
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('of an order that nothing was paid for wait for somebody who pays for their way home', async () => {
    const [parent] = await inscribed(['unpaid']);
    const { id, deposits, charge } = await ordered(['n'], [termsOf(parent!)], { timeoutMinutes: -1 });
    await send([parent!], [to(deposits[0], parent!)]);
    await world.chain.mineMempool();
    await world.until(id, 'waiting-refund');
    await world.eventually(async () => (await shown(id)).error?.includes('goes home once') === true);
    await send([], [{ ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    expect(await shown(id)).not.toHaveProperty('error');
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  test('that come again to a delivered order go home, and the service pays', async () => {
    const [parent] = await inscribed(['again']);
    const { id, deposits, charge } = await ordered(['r'], [termsOf(parent!, scriptOf(owner))]);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    const { parents } = await shown(id);
    const back: Coin = { ...parent!.coin, txid: parents[0]!.parentReturnTx!, vout: 0 };
    await send([{ ...parent!, coin: back }], [to(deposits[0], parent!)]);
    await world.chain.mineMempool();
    await world.indexed();
    await world.wake(id);
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.indexed();
    await expectAt(parent!, scriptOf(owner));
    await world.eventually(async () => (await accounts(id))['deposit'] === undefined);
    const { service = 0, fee: paid = 0, postage = 0, outside = 0 } = await audited(id);
    expect(service).toBeLessThan(2000);
    expect(service + paid + postage).toBe(-outside);
  });

  test('beside which nothing but sats come to a delivered order go home alone, and the sats wait for who pays', async () => {
    const [parent] = await inscribed(['beside sats']);
    const { id, deposits, charge } = await ordered(['u'], [termsOf(parent!, scriptOf(owner))]);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    const { parents } = await shown(id);
    const back: Coin = { ...parent!.coin, txid: parents[0]!.parentReturnTx!, vout: 0 };
    const sats: NewOutput = { outputScript: deposits[0]!, value: 700 };
    await send([{ ...parent!, coin: back }], [to(deposits[0], parent!), sats, { ...sats, value: 800 }]);
    await world.chain.mineMempool();
    await world.indexed();
    await world.wake(id);
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.indexed();
    await expectAt(parent!, scriptOf(owner));
    await world.eventually(async () => (await shown(id)).error?.includes('goes home once') === true);
    expect((await audited(id))['deposit']).toBe(1500);
    await send([], [{ ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.eventually(async () => {
      await world.chain.mineMempool();
      const { deposit, owed } = await accounts(id);
      return deposit === undefined && owed === undefined;
    });
    expect((await audited(id))['service']).toBeLessThan(2000);
  });

  test('with too few sats for their way home get more', async () => {
    const [small] = await inscribed(['small'], 400);
    const { id, deposits, charge } = await ordered(['t'], [termsOf(small!, p2pkhHome, 1000)], {
      timeoutMinutes: -1,
    });
    await send([small!], [to(deposits[0], small!), { ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(small!, p2pkhHome, 546);
    const { outside = 0, fee: paid = 0, ...others } = await audited(id);
    expect(others).toEqual({});
    expect(-outside).toBe(paid);
  });

  test('of a cancelled order go home', async () => {
    const [parent] = await inscribed(['cancelled']);
    const { id, deposits, charge } = await ordered(['s'], [termsOf(parent!)]);
    await world.until(id, 'waiting-parent');
    expect(await world.customerOrders.cancel(id)).toBe(true);
    await send([parent!], [to(deposits[0], parent!), { ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    expect(await audited(id)).not.toHaveProperty('deposit');
  });
});
