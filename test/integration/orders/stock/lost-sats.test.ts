import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { displayHash } from '#kernel/primitives/hash.ts';
import { refundOrder } from '#orders/operator/operator-orders.ts';
import { putReferral } from '#orders/referrals/referral.store.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import type { OrderWorld } from '#test/support/orders/order-world.ts';
import {
  type Created,
  hexOf,
  refund,
  stockOrders,
  stranger,
  wanted,
} from '#test/support/orders/stock-orders.ts';
import { StockRoom } from '#test/support/orders/stock-room.ts';

describe.skipIf(bitcoindForTests() === null)('an order that loses a sat once its commit is sent', () => {
  let world: OrderWorld;
  let room: StockRoom;
  beforeAll(async () => {
    room = await StockRoom.start(190);
    world = room.world;
  }, 180_000);
  afterAll(() => room?.close());
  beforeEach(() => room.forget());
  const { stocks, order, stateOf, balances, reservedBy, inscribedOn, audited, broadcast } = stockOrders(
    () => room,
  );

  test('reports a sat that is spent once its commit is sent, and delivers the others', async () => {
    const stocked = await stocks(4);
    const made = await order(wanted(2));
    await world.chain.pay(made.script, made.charge.amount);
    await world.chain.mineMempool();
    await world.until(made.id, 'queued');
    await world.sent(made.id);
    const [kept, gone] = await reservedBy(made.id);
    const lost = stocked.find(({ txid }) => txid === gone!.txid)!;
    // this transaction replaces a reveal
    await broadcast(await room.spend(lost, scriptOf(stranger), 5_000));
    await world.chain.mineMempool();
    await world.eventually(async () => (await stateOf(made.id)).error !== null);
    expect(await stateOf(made.id)).toMatchObject({
      state: 'queued',
      error: expect.stringMatching(
        /^A sat of the inventory is missing: .* The other files are inscribed; unless the output comes back, its money is refunded after 6 blocks\.$/u,
      ) as string,
    });
    expect((await inscribedOn(made.id)).map(({ sat }) => sat)).toEqual([kept!.sat]);
    await audited();
    // a reorganisation returns the sat
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await world.eventually(async () => (await stateOf(made.id)).error === null);
    const reveals = (await world.customerOrders.read(made.id))!.transactions;
    expect(reveals.filter(({ kind }) => kind === 'reveal')).toHaveLength(2);
  });

  /**
   * Makes a paid order whose commit and reveals are sent. Then a stranger spends the sat of its last file in a block.
   */
  async function losing(body: object): Promise<{ made: Created; script: Buffer }> {
    const stocked = await stocks(6);
    const { script, ...made } = await order(body);
    await world.chain.pay(script, made.charge.amount);
    await world.chain.mineMempool();
    await world.until(made.id, 'queued');
    await world.sent(made.id);
    const gone = (await reservedBy(made.id)).at(-1)!;
    const lost = stocked.find(({ txid }) => txid === gone.txid)!;
    await broadcast(await room.spend(lost, scriptOf(stranger), 5_000));
    await world.chain.mineMempool();
    await world.eventually(async () => (await stateOf(made.id)).error !== null);
    return { made, script };
  }

  const transactionsOf = async (id: string) => (await world.customerOrders.read(id))!.transactions;
  const refundsOf = async (id: string) =>
    (await transactionsOf(id)).filter(({ kind, sentAt }) => kind === 'refund' && sentAt !== null);

  test('refunds the file whose sat is gone for good, and delivers the others', {
    tags: ['proof'],
  }, async () => {
    const code = 'friend';
    await putReferral(world.database.pool, {
      code,
      address: addressOf(stranger),
      script: Buffer.from(scriptOf(stranger)),
    });
    const { made } = await losing({ ...wanted(3), referral: code, additionalFee: 500 });
    await world.chain.mineEmpty(5);
    await world.indexed();
    await world.wake(made.id);
    await world.eventually(async () => (await stateOf(made.id)).state === 'queued');
    expect(await refundsOf(made.id)).toEqual([]);
    await world.chain.mineEmpty(1);
    await world.until(made.id, 'completed');
    const [back] = await world.eventually(async () => {
      const found = await refundsOf(made.id);
      return found.length === 1 && found;
    });
    const commit = (await transactionsOf(made.id)).find(({ kind }) => kind === 'commit')!;
    // the refund has everything that the file cost: its reveal, the sat and the service's fees
    const money = commit.plan.outputs[2]!.value;
    expect(money).toBeGreaterThan(40_000 + 9_000 + 500);
    expect(back!.plan).toMatchObject({
      inputs: [{ outpoint: `${displayHash(commit.txid)}:2`, value: money }],
      outputs: [{ kind: 'refund', value: money - back!.fee, script: hexOf(refund) }],
    });
    const missing =
      /^A sat of the inventory is missing: file 3 of the order cannot be inscribed, .* Its money is refunded, and the other files are inscribed\.$/u;
    expect((await stateOf(made.id)).error).toMatch(missing);
    const shown = (await room.app.inject({ url: `/order/${made.id}` })).json<{
      readonly files: readonly { readonly inscriptionId?: string; readonly status?: string }[];
    }>();
    expect(shown).toMatchObject({
      state: 'completed',
      inscribedCount: 2,
      error: expect.stringMatching(missing) as string,
      refund: { amount: money - back!.fee, address: addressOf(refund) },
    });
    expect(shown.files.map(({ inscriptionId, status }) => [inscriptionId !== undefined, status])).toEqual([
      [true, 'inscribed'],
      [true, 'inscribed'],
      [false, undefined],
    ]);
    await audited();
    await world.chain.mineMempool();
    await world.eventually(async () => expect(await balances(made.id)).not.toHaveProperty('owed'));
    const held = await balances(made.id);
    // a partner gets no share of the additional fee for the lost file
    expect(held).toMatchObject({ inventory: -2 * 546, postage: 2 * 546 });
    expect(Object.entries(held).filter(([name]) => name.startsWith('referral'))).toEqual([
      [expect.any(String), 2 * 500 + 1_350],
    ]);
    expect((await inscribedOn(made.id)).map(({ sat }) => sat)).toEqual(
      (await reservedBy(made.id)).slice(0, 2).map(({ sat }) => sat),
    );
    await audited();
    // a reorganisation of all these blocks changes nothing
    await world.chain.takeBack(8);
    await world.chain.mineEmpty(9);
    await world.until(made.id, 'queued');
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await stateOf(made.id)).state === 'completed';
    });
    expect((await refundsOf(made.id)).map(({ txid }) => displayHash(txid))).toEqual([
      displayHash(back!.txid),
    ]);
    expect((await stateOf(made.id)).error).toMatch(missing);
    await world.eventually(async () => expect(await balances(made.id)).toEqual(held));
    await audited();
  });

  test('is refunded whole if all of its sats are gone, although its commit was mined', async () => {
    const { made } = await losing(wanted(1));
    expect((await transactionsOf(made.id)).map(({ kind }) => kind)).toEqual(['commit', 'reveal']);
    await world.chain.mineEmpty(6);
    await world.until(made.id, 'waiting-refund');
    expect((await stateOf(made.id)).error).toMatch(/sat of the inventory .* is no longer there/u);
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await stateOf(made.id)).state === 'refunded';
    });
    const [commit, back, ...others] = await transactionsOf(made.id);
    expect([commit!.kind, back!.kind, others]).toEqual(['commit', 'refund', []]);
    expect(back!.plan.outputs).toEqual([
      { kind: 'refund', value: made.charge.amount - commit!.fee - back!.fee, script: hexOf(refund) },
    ]);
    const { outside, fee = 0, ...rest } = await balances(made.id);
    expect([outside, rest]).toEqual([-fee, {}]);
    await audited();
  });

  test('without an address waits until its operator names one', {
    tags: ['proof'],
  }, async () => {
    const { refundAddress: _, ...body } = wanted(2);
    const { made } = await losing(body);
    await world.chain.mineEmpty(6);
    await world.eventually(async () => {
      const { error } = await stateOf(made.id);
      return (
        error?.endsWith(
          'its money is kept until there is an address for it; write to the operator of this service.',
        ) === true
      );
    });
    expect((await stateOf(made.id)).state).toBe('queued');
    await audited();
    await refundOrder(world.database.pool, made.id, scriptOf(refund));
    await world.until(made.id, 'completed');
    const [back] = await world.eventually(async () => {
      const found = await refundsOf(made.id);
      return found.length === 1 && found;
    });
    expect(back!.plan.outputs).toMatchObject([{ kind: 'refund', script: hexOf(refund) }]);
    await world.chain.mineMempool();
    await world.eventually(async () => expect(await balances(made.id)).not.toHaveProperty('owed'));
    await audited();
  });
});
