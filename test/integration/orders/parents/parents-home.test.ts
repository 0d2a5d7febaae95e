import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refundOrder } from '#orders/operator/operator-orders.ts';
import {
  type Coin,
  type NewOutput,
  scriptOf,
  transaction,
} from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { home, lentParents, owner, p2pkhHome, refunded } from '#test/support/orders/lent-parents.ts';
import { openOrders } from '#test/support/orders/open-orders.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';

describe.skipIf(bitcoindForTests() === null)('parents that no delivery uses', () => {
  let world: OrderWorld;
  beforeAll(async () => {
    world = await OrderWorld.start({}, 200);
    // the service has earned some sats, with which it pays if no customer pays
    for (const text of ['earned', 'earned too']) {
      const { id, charge } = await ordered([text], []);
      await send([], [charge]);
      await world.deliver(id);
    }
  });
  afterAll(() => world?.close());
  const { inscribed, termsOf, ordered, to, send, shown, expectAt, expectChildren, accounts, audited } =
    lentParents(() => world);

  /** Mines the return of an order that has ended, and waits until the index has the return. */
  async function refundedAfterReturn(id: string): Promise<void> {
    await world.sent(id, ['return']);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
  }

  test('of another inscription return while the order waits, once there is money for it', async () => {
    const [parent] = await inscribed(['the right one']);
    const [wrong] = await inscribed(['a wrong one'], 3000);
    const { id, deposits, charge } = await ordered(['l'], [termsOf(parent!)]);
    await send([wrong!], [to(deposits[0], wrong!)]);
    await world.until(id, 'waiting-payment');
    await world.chain.mineMempool();
    await world.until(id, 'waiting-parent');
    await world.eventually(async () => (await shown(id)).error?.includes('The return needs') === true);
    // the delivery needs the complete payment
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
    // the excess payment is refunded
    await world.sent(id, ['refund']);
    await world.chain.mineMempool();
    await world.eventually(async () => (await accounts(id))['owed'] === undefined);
    const { postage, service, deposit } = await audited(id);
    expect({ postage, service, deposit }).toEqual({ postage: 546, service: 2000 });
  });

  test('with an address of the service as return address stay, with the reason', async () => {
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

  test('of an order that is over return with the refund, which pays for them', async () => {
    const [parent] = await inscribed(['too late']);
    const { id, deposits, charge } = await ordered(['m'], [termsOf(parent!)], { timeoutMinutes: -1 });
    await world.until(id, 'expired');
    await send([parent!], [to(deposits[0], parent!), { ...charge, value: 30_000 }]);
    await world.until(id, 'waiting-refund');
    await world.chain.mineMempool();
    await refundedAfterReturn(id);
    await expectAt(parent!, scriptOf(home));
    const { outside = 0, fee: paid = 0, ...others } = await audited(id);
    expect(others).toEqual({});
    expect(-outside).toBe(paid);
    expect(paid).toBeLessThan(30_000);
    const { parentReturnTx } = (await shown(id)).parents[0]!;
    expect(parentReturnTx).toMatch(/^[0-9a-f]{64}$/u);
    // a reorganisation removes the return for a while
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

  test('of an unpaid order wait for money if the service may not pay', async () => {
    world.returns.dayMaxSats = 0n;
    const [parent] = await inscribed(['unpaid']);
    const { id, deposits, charge } = await ordered(['n'], [termsOf(parent!)], { timeoutMinutes: -1 });
    await send([parent!], [to(deposits[0], parent!)]);
    await world.chain.mineMempool();
    await world.until(id, 'waiting-refund');
    await world.eventually(async () => (await shown(id)).error?.includes('The return needs') === true);
    await send([], [{ ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await refundedAfterReturn(id);
    await expectAt(parent!, scriptOf(home));
    expect(await shown(id)).not.toHaveProperty('error');
    expect(await audited(id)).not.toHaveProperty('deposit');
    world.returns.dayMaxSats = 50_000n;
  });

  test('are being returned, in a state that shows nothing, until a block has their return', async () => {
    const [parent] = await inscribed(['on its way']);
    const { id, deposits } = await ordered(['x'], [termsOf(parent!)], { timeoutMinutes: -1 });
    await send([parent!], [to(deposits[0], parent!)]);
    await world.chain.mineMempool();
    await world.sent(id, ['return']);
    const open = async () => (await openOrders(world.database.pool)).filter((words) => words.startsWith(id));
    expect(await shown(id)).not.toHaveProperty('error');
    expect(await open()).toEqual([
      `${id} is still waiting-refund, 0 sats owed, 10000 sats with parents, no error`,
    ]);
    await refundedAfterReturn(id);
    expect(await open()).toEqual([]);
    await expectAt(parent!, scriptOf(home));
    await audited(id);
  });

  test('that arrive again at a delivered order return, and the service pays', async () => {
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

  test('that arrive with only sats at a delivered order return alone, and the sats pay for themselves', async () => {
    const [parent] = await inscribed(['beside sats']);
    const { id, deposits, charge } = await ordered(['u'], [termsOf(parent!, scriptOf(owner))]);
    await send([parent!], [to(deposits[0], parent!), charge]);
    await world.deliver(id);
    const { parents } = await shown(id);
    const back: Coin = { ...parent!.coin, txid: parents[0]!.parentReturnTx!, vout: 0 };
    const sats: NewOutput = { outputScript: deposits[0]!, value: 7000 };
    await send([{ ...parent!, coin: back }], [to(deposits[0], parent!), sats, { ...sats, value: 8000 }]);
    await world.chain.mineMempool();
    await world.indexed();
    await world.wake(id);
    await world.sent(id, ['return']);
    await world.eventually(async () => {
      await world.chain.mineMempool();
      const { deposit, owed } = await accounts(id);
      return deposit === undefined && owed === undefined;
    });
    await world.indexed();
    await expectAt(parent!, scriptOf(owner));
    await audited(id);
    const sent = await returnsOf(id);
    // the return has only outputs of the parent, because the parent pays for itself with all sats that it brought
    expect(sent.flatMap(({ plan }) => plan.outputs.map(({ kind }) => kind)).toSorted()).toEqual([
      'parent',
      'parent',
    ]);
    expect(paidTo(sent, owner)).toBe(parent!.coin.value + 15_000 - feesOf(sent));
  });

  test('with too few sats for their return get more', async () => {
    const [small] = await inscribed(['small'], 400);
    const { id, deposits, charge } = await ordered(['t'], [termsOf(small!, p2pkhHome, 1000)], {
      timeoutMinutes: -1,
    });
    await send([small!], [to(deposits[0], small!), { ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await refundedAfterReturn(id);
    await expectAt(small!, p2pkhHome, 546);
    const { outside = 0, fee: paid = 0, ...others } = await audited(id);
    expect(others).toEqual({});
    expect(-outside).toBe(paid);
  });

  test('that a reorganisation removes for good leave the money in a commit, which is refunded', async () => {
    const [parent] = await inscribed(['taken for good']);
    const { id, deposits, charge } = await ordered(['v', 'w'], [termsOf(parent!)], {
      terms: { type: 'bulk', uncurse: true },
    });
    await send([], [charge]);
    await send([parent!], [to(deposits[0], parent!)]);
    await world.deliver(id);
    await world.chain.takeBack(2);
    // the owner sends the parent to another address, and then the payment and the commit are mined again
    await world.chain.mine([transaction([parent!.coin], [{ value: parent!.coin.value - 5000, to: owner }])]);
    await world.chain.mineMempool();
    await world.chain.mineEmpty(1);
    await world.until(id, 'waiting-parent');
    const { transactions } = (await world.customerOrders.read(id))!;
    expect(transactions.map(({ kind }) => kind)).toEqual(['commit']);
    await world.database.pool.query('UPDATE service.orders SET expires_at = now() WHERE id = $1', [id]);
    await world.wake(id);
    await world.until(id, 'waiting-refund');
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await shown(id)).state === 'refunded';
    });
    const [commit, back] = (await world.customerOrders.read(id))!.transactions;
    expect(back!.plan).toMatchObject({
      inputs: commit!.plan.outputs.map(({ value }) => ({ value })),
      outputs: [{ kind: 'refund', value: charge.value - commit!.fee - back!.fee }],
    });
    expect(back!.plan.inputs.length).toBeGreaterThan(1);
    await world.indexed();
    const { outside = 0, fee: paid = 0, ...others } = await audited(id);
    expect([outside, others]).toEqual([-paid, {}]);
  });

  test('of a cancelled order return', async () => {
    const [parent] = await inscribed(['cancelled']);
    const { id, deposits, charge } = await ordered(['s'], [termsOf(parent!)]);
    await world.until(id, 'waiting-parent');
    expect(await world.customerOrders.cancel(id)).toBe(true);
    await send([parent!], [to(deposits[0], parent!), { ...charge, value: 30_000 }]);
    await world.chain.mineMempool();
    await refundedAfterReturn(id);
    await expectAt(parent!, scriptOf(home));
    expect(await audited(id)).not.toHaveProperty('deposit');
  });

  /** Reads the transactions of an order that return or refund something. */
  const returnsOf = async (id: string) =>
    (await world.customerOrders.read(id))!.transactions.filter(
      ({ kind }) => kind === 'return' || kind === 'refund',
    );
  type Sent = Awaited<ReturnType<typeof returnsOf>>;
  const paidTo = (sent: Sent, of: number): number =>
    sent
      .flatMap(({ plan }) => plan.outputs)
      .filter(({ script }) => script === Buffer.from(scriptOf(of)).toString('hex'))
      .reduce((sum, { value }) => sum + value, 0);
  const feesOf = (sent: Sent): number => sent.reduce((sum, { fee }) => sum + fee, 0);
  const mineUntil = (id: string, state: string) =>
    world.eventually(async () => {
      await world.chain.mineMempool();
      return (await shown(id)).state === state;
    });

  test('cost a customer no refund if a stranger sends dust to the deposit', async () => {
    const [parent] = await inscribed(['dusted']);
    const { id, deposits, charge } = await ordered(['d'], [termsOf(parent!)]);
    await world.until(id, 'waiting-parent');
    expect(await world.customerOrders.cancel(id)).toBe(true);
    await world.until(id, 'cancelled');
    const dust = Array.from({ length: 90 }, (): NewOutput => ({ outputScript: deposits[0]!, value: 330 }));
    await send([], [{ ...charge, value: 100_000 }, ...dust]);
    await world.until(id, 'waiting-refund');
    await mineUntil(id, 'refunded');
    const sent = await returnsOf(id);
    const [refund, ...more] = sent.filter(({ plan }) => plan.outputs.some(({ kind }) => kind === 'refund'));
    expect(more).toEqual([]);
    expect(refund!.plan.inputs.map(({ value }) => value)).toEqual([100_000]);
    expect(paidTo(sent, refunded)).toBe(100_000 - refund!.fee);
    expect(refund!.fee).toBeLessThan(3000);
    // each output of dust pays for its own return if it can
    const dusted = sent.filter((made) => made !== refund);
    expect(dusted.every(({ plan }) => plan.inputs.every(({ value }) => value === 330))).toBe(true);
    await audited(id);
  });

  test('are returned by the service if their charge is never paid, within its bounds', async () => {
    const [parent] = await inscribed(['never paid']);
    const { id, deposits } = await ordered(['v'], [termsOf(parent!)], { timeoutMinutes: -1 });
    await send([parent!], [to(deposits[0], parent!)]);
    await world.chain.mineMempool();
    await refundedAfterReturn(id);
    await expectAt(parent!, scriptOf(home));
    expect(await shown(id)).not.toHaveProperty('error');
    const [made] = await returnsOf(id);
    expect(made!.plan.inputs.filter(({ isOperator }) => isOperator)).toHaveLength(1);
    expect(await audited(id)).toEqual({ fee: made!.fee, operator: -made!.fee });
    // a reorganisation removes this transaction for a while, and the rest of its coin pays for another transaction
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await world.until(id, 'waiting-refund');
    await world.eventually(async () => (await world.bitcoind.rpc.call<string[]>('getrawmempool')).length > 0);
    await world.chain.mineMempool();
    await world.until(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    await audited(id);
  });

  test('that were sent to the address of the charge go to the refund address, whole', async () => {
    const [parent] = await inscribed(['to the charge'], 546);
    const { id, charge } = await ordered(['w'], [termsOf(parent!)], { timeoutMinutes: -1 });
    await send([parent!], [{ ...charge, value: 546 }]);
    await world.until(id, 'waiting-refund');
    await mineUntil(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(refunded));
    const { operator = 0, fee: paid = 0 } = await audited(id);
    expect(operator).toBe(-paid);
  });

  test('with another inscription beside the payment: each is returned whole, and the money pays', async () => {
    const [first] = await inscribed(['inside a payment'], 20_000);
    const { id, charge } = await ordered(['x'], [], { timeoutMinutes: -1 });
    await send(
      [first!],
      [
        { ...charge, value: 20_000 },
        { ...charge, value: 30_000 },
      ],
    );
    await world.until(id, 'waiting-refund');
    await mineUntil(id, 'refunded');
    await world.indexed();
    await expectAt(first!, scriptOf(refunded));
    const sent = await returnsOf(id);
    expect(paidTo(sent, refunded)).toBe(50_000 - feesOf(sent));
    await audited(id);
  });

  test('of a payment without a refund address wait for the operator, who names one', async () => {
    const [held] = await inscribed(['homeless'], 20_000);
    const { id, charge } = await ordered(['y'], [], { timeoutMinutes: -1, refundScript: null });
    await send([held!], [{ ...charge, value: 20_000 }]);
    await world.until(id, 'waiting-refund');
    await world.chain.mineMempool();
    await world.eventually(
      async () => (await shown(id)).error?.includes('the order has no refundAddress') === true,
    );
    await refundOrder(world.database.pool, id, scriptOf(home));
    await mineUntil(id, 'refunded');
    await world.indexed();
    await expectAt(held!, scriptOf(home));
    expect(await shown(id)).not.toHaveProperty('error');
    await audited(id);
  });

  test('are paid for by sats that the customer sent to the deposit instead of the charge', async () => {
    const [parent] = await inscribed(['wrong address']);
    const { id, deposits } = await ordered(['z'], [termsOf(parent!)], { timeoutMinutes: -1 });
    const sats: NewOutput = { outputScript: deposits[0]!, value: 20_000 };
    await send([parent!], [to(deposits[0], parent!), sats]);
    await world.until(id, 'waiting-refund');
    await mineUntil(id, 'refunded');
    await world.indexed();
    await expectAt(parent!, scriptOf(home));
    const sent = await returnsOf(id);
    expect(paidTo(sent, home)).toBe(parent!.coin.value + 20_000 - feesOf(sent));
    expect(await audited(id)).not.toHaveProperty('operator');
  });

  test('with an inscription in the payment of a delivered order: it goes to the refund address', async () => {
    const [held] = await inscribed(['beside the payment'], 20_000);
    const { id, charge } = await ordered(['beside it'], []);
    await send([held!], [{ ...charge, value: 20_000 }, charge]);
    await world.deliver(id);
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await returnsOf(id)).length > 0 && (await accounts(id))['owed'] === undefined;
    });
    await world.indexed();
    await expectAt(held!, scriptOf(refunded));
    await expectChildren(id, ['beside it'], []);
    await audited(id);
  });

  test('sent as the payment do not pay: the whole amount is missing, and they are returned', async () => {
    const [held] = await inscribed(['the payment'], 20_000);
    const { id, charge } = await ordered(['paid with it'], []);
    await send([held!], [{ ...charge, value: 20_000 }]);
    await world.chain.mineMempool();
    await world.eventually(async () => (await shown(id)).missing === charge.value);
    expect((await shown(id)).state).toBe('waiting-payment');
    await world.database.pool.query(`UPDATE service.orders SET expires_at = now() WHERE id = $1`, [id]);
    await world.wake(id);
    await mineUntil(id, 'refunded');
    await world.indexed();
    await expectAt(held!, scriptOf(refunded));
    await audited(id);
  });

  test('of a stranger do not end an order that is short and still has time', async () => {
    const [held] = await inscribed(["a stranger's"]);
    const { id, charge } = await ordered(['short for a while'], []);
    await send([], [{ ...charge, value: charge.value - 400 }]);
    await send([held!], [{ ...charge, value: held!.coin.value }]);
    await world.chain.mineMempool();
    await world.indexed();
    await world.eventually(async () => (await shown(id)).missing === 400);
    expect((await shown(id)).state).toBe('waiting-payment');
    await send([], [{ ...charge, value: 400 }]);
    await world.deliver(id);
    await expectChildren(id, ['short for a while'], []);
  });
});
