import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { networks } from '#kernel/primitives/network.ts';
import type { WantedOrder } from '#orders/creating/create-order.ts';
import { orderAnswer } from '#orders/customers/order-answer.ts';
import { cancelOrder, retryOrder, showOrder } from '#orders/operator/operator-orders.ts';
import type { Order } from '#orders/order/order.store.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { lentParents } from '#test/support/orders/lent-parents.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { findOpen, foretell } from '#test/support/orders/paying/foretell.ts';

const refunded = 702;
const hour = 3_600_000;

interface Answer {
  readonly state: string;
  readonly missing?: number;
  readonly repriced?: {
    readonly amount: number;
    readonly before: number;
    readonly until: number;
    /** Estimate of the node in sats per virtual byte. It falls when other tests mine blocks. */
    readonly fee: number;
  };
  readonly charge: { readonly amount: number };
}

describe.skipIf(bitcoindForTests() === null)('prices of orders whose fees rose', () => {
  let world: OrderWorld;
  beforeAll(async () => {
    world = await OrderWorld.start({}, 230);
    await world.raiseFees(15);
  });
  afterAll(() => world?.close());
  beforeEach(() => void world.told.splice(0));

  /** Makes an order at 1 sat/vB, which is the estimate at its creation. The order's price is held for this time. */
  async function ordered(
    text: string,
    holdMs: number,
    { feeRate = 1000n, feeEstimate = 1000 }: { feeRate?: bigint; feeEstimate?: number } = {},
  ): Promise<Order> {
    const wanted = wantedOrder([text], { feeRate });
    const asked: WantedOrder = {
      ...wanted,
      quote: { ...wanted.quote, feeEstimate, heldUntil: Date.now() + holdMs },
      refundScript: scriptOf(refunded),
    };
    const { order } = await world.customerOrders.create(asked);
    return (await world.customerOrders.read(order.id))!.order;
  }

  const pay = ({ script, amount }: Order) => world.chain.pay(script, Number(amount));
  const answer = async (id: string): Promise<Answer> => {
    const found = (await world.customerOrders.read(id))!;
    return orderAnswer(found.order, found, networks.regtest, 'http://orders.test') as Answer;
  };
  /** Resolves when the order charges a difference. */
  const repriced = (id: string) =>
    world.eventually(async () => {
      const shown = await answer(id);
      return shown.repriced === undefined || shown.state !== 'waiting-payment'
        ? false
        : { ...shown, repriced: shown.repriced };
    });
  const toldOf = (of: string) => world.told.filter(({ id }) => id === of).map(({ state }) => state);
  /** Fee rate of the reveal in sats per virtual byte. */
  async function paidRate(id: string): Promise<number> {
    const [reveal] = (await world.customerOrders.read(id))!.transactions;
    const txid = Buffer.from(reveal!.txid).reverse().toString('hex');
    const { vsize } = await world.bitcoind.rpc.call<{ vsize: number }>('getrawtransaction', [txid, true]);
    return reveal!.fee / vsize;
  }

  test('are held for a payment that was seen in time', async () => {
    const order = await ordered('in time', hour);
    await pay(order);
    await world.until(order.id, 'waiting-confirmation');
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    expect(await answer(order.id)).not.toHaveProperty('repriced');
    expect(await paidRate(order.id)).toBeLessThan(1.1);
    expect(await showOrder(world.database.pool, order.id)).toMatchObject({ repriced: null });
    await world.chain.mineMempool();
    await world.until(order.id, 'completed');
  });

  test('rise for a late payment, and the difference delivers the order at the new rate', async () => {
    const order = await ordered('late', -hour);
    await pay(order);
    const shown = await repriced(order.id);
    const { amount, before, until, fee } = shown.repriced;
    expect(fee).toBeGreaterThan(1.5);
    expect(before).toBe(Number(order.amount));
    expect(shown.charge.amount).toBe(before + amount);
    // the missing amount includes the cost of one more input, beyond the part that the service pays
    expect(shown.missing).toBeGreaterThanOrEqual(amount);
    expect(await findOpen(world, order.id)).toMatchObject({
      isRepriced: true,
      missing: BigInt(shown.missing!),
      shownAmount: BigInt(before + amount),
    });
    expect(amount).toBeGreaterThan(0.95 * (fee - 1) * order.quote.chainFee);
    expect(until - Date.now()).toBeGreaterThan(23 * hour);
    // the customer gets a message, and the order is not processed before the customer answers
    expect(toldOf(order.id)).toEqual(['waiting-payment']);
    await world.chain.mineMempool();
    await world.indexed();
    await world.wake(order.id);
    expect((await answer(order.id)).state).toBe('waiting-payment');
    await world.chain.pay(order.script, shown.missing!);
    await world.until(order.id, 'waiting-confirmation');
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    expect(await paidRate(order.id)).toBeGreaterThan(0.98 * fee);
    // a price is raised only once, so the difference stays the same
    expect((await answer(order.id)).repriced).toEqual(shown.repriced);
    await world.chain.mineMempool();
    await world.until(order.id, 'completed');
    const balances = await world.eventually(async () => {
      const found = balancesOf(await readEntries(world.database.pool, { kind: 'order', id: order.id }));
      return (found.get('service') ?? 0n) > 0n && found;
    });
    expect([balances.get('operator') ?? 0n, balances.get('owed') ?? 0n]).toEqual([0n, 0n]);
    expect(await answer(order.id)).not.toHaveProperty('overpaid');
  });

  test('do not rise if more was paid than the new price', async () => {
    const order = await ordered('rich', -hour);
    await world.chain.pay(order.script, Number(order.amount) + 50_000);
    await world.until(order.id, 'waiting-confirmation');
    expect(await answer(order.id)).toMatchObject({ repriced: { before: Number(order.amount) } });
    await world.deliver(order.id);
  });

  test('are shown before a late payment is sent, and do not rise again if it includes the rise', async () => {
    const order = await ordered('told before', -hour);
    const open = await findOpen(world, order.id);
    expect(open).toMatchObject({ isRepriced: false, shownAmount: order.amount, missing: open.amount });
    expect(open.amount).toBeGreaterThan(order.amount);
    const paid = Number(open.missing);
    expect(foretell(open, [paid])).toMatchObject({ kind: 'delivered' });
    expect(foretell(open, [Number(order.amount)])).toMatchObject({ kind: 'short' });
    await world.chain.pay(order.script, paid);
    await world.until(order.id, 'waiting-confirmation');
    expect(toldOf(order.id)).toEqual(['waiting-payment', 'waiting-confirmation']);
    expect((await answer(order.id)).charge.amount).toBe(paid);
    await world.deliver(order.id);
  });

  test('that a customer refuses end in a refund', async () => {
    const order = await ordered('refused', -hour);
    await pay(order);
    await repriced(order.id);
    expect(await world.customerOrders.cancel(order.id)).toBe(true);
    await world.until(order.id, 'waiting-refund');
    await world.chain.mineMempool();
    await world.sent(order.id, ['refund']);
    await world.chain.mineMempool();
    await world.until(order.id, 'refunded');
    expect(toldOf(order.id)).toEqual(['waiting-payment', 'cancelled', 'waiting-refund', 'refunded']);
    // later payments do not lead to a delivery either
    expect(await world.customerOrders.cancel(order.id)).toBe(true);
  });

  test('that are not paid end in a refund when their time is over, and operators may cancel the orders', async () => {
    const order = await ordered('silent', -hour);
    const other = await ordered('operator', -hour);
    for (const each of [order, other]) {
      await pay(each);
      await repriced(each.id);
    }
    await cancelOrder(world.database.pool, other.id);
    await world.until(other.id, 'waiting-refund');
    await world.database.pool.query('UPDATE service.orders SET expires_at = now() WHERE id = $1', [order.id]);
    await world.wake(order.id);
    await world.until(order.id, 'waiting-refund');
  });

  test('never rise if the customer pays the estimate, or without an estimate', async () => {
    const own = await ordered('own', -hour, { feeRate: 20_000n });
    const small = await ordered('small', -hour, { feeRate: 12_000n, feeEstimate: 12_000 });
    const wanted = wantedOrder(['unknown']);
    const { order: unknown } = await world.customerOrders.create({
      ...wanted,
      quote: { ...wanted.quote, heldUntil: 0 },
    });
    for (const { id } of [own, small, unknown]) {
      const { order } = (await world.customerOrders.read(id))!;
      await pay(order);
      await world.until(id, 'waiting-confirmation');
      expect(await answer(id)).not.toHaveProperty('repriced');
    }
  });

  test('that were held stay, through reorganisations and restarts', async () => {
    const order = await ordered('kept', -hour, { feeEstimate: 14_000 });
    await pay(order);
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    // fees rise after the order was made
    await world.database.pool.query(
      `UPDATE service.orders SET quote = jsonb_set(quote, '{feeEstimate}', '1000') WHERE id = $1`,
      [order.id],
    );
    await world.stop();
    const taken = await world.chain.takeBack(1);
    await world.follow();
    await world.until(order.id, 'waiting-confirmation');
    expect(await answer(order.id)).not.toHaveProperty('repriced');
    await world.chain.reconsider(taken);
    await world.until(order.id, 'queued');
    expect(await answer(order.id)).not.toHaveProperty('repriced');
  });

  test('rise for a late payment that replaces one in time', async () => {
    const order = await ordered('replaced', 1500);
    const { coin } = await pay(order);
    await world.until(order.id, 'waiting-confirmation');
    expect((await world.customerOrders.read(order.id))!.order.priceKeptAt).not.toBeNull();
    await world.eventually(async () => Date.now() > order.quote.heldUntil! + 1000);
    const amount = Number(order.amount);
    await world.chain.broadcast(
      transaction(
        [coin],
        [{ value: amount, outputScript: order.script }, { value: coin.value - amount - 50_000 }],
      ),
    );
    await repriced(order.id);
    expect(toldOf(order.id)).toEqual(['waiting-confirmation', 'waiting-payment']);
  });

  test('rise for a late parent, however early the payment was', async () => {
    const { inscribed, termsOf, ordered: orderedChild, send, to } = lentParents(() => world);
    const [parent] = await inscribed(['parent']);
    const parents = [termsOf(parent!)];
    const { quote } = wantedOrder(['child'], { parents, feeRate: 1000n });
    const heldUntil = Date.now() + 2000;
    const { id, charge, deposits } = await orderedChild(['child'], parents, {
      terms: { feeRate: 1000n },
      quote: { ...quote, feeEstimate: 1000, heldUntil },
    });
    await send([], [charge]);
    await world.eventually(async () => (await world.customerOrders.read(id))!.payments.length === 1);
    await world.eventually(async () => Date.now() > heldUntil + 1000);
    expect(await answer(id)).not.toHaveProperty('repriced');
    await send([parent!], [to(deposits[0], parent!)]);
    await world.until(id, 'waiting-confirmation');
    // only a block shows that this is the parent, because anyone can send something to this address
    expect(await answer(id)).not.toHaveProperty('repriced');
    await world.chain.mineMempool();
    await repriced(id);
  });

  test('of a failed order that is retried count the rise of fees from the retry on', async () => {
    const order = await ordered('retried', hour);
    await pay(order);
    await world.until(order.id, 'waiting-confirmation');
    const { pool } = world.database;
    // the order failed when fees were low
    await world.stop();
    await pool.query(
      `UPDATE service.orders SET state = 'error', error = 'why', paid_estimate = 1000 WHERE id = $1`,
      [order.id],
    );
    await retryOrder(pool, order.id);
    expect((await showOrder(pool, order.id)).paidEstimate).toBeGreaterThan(1500);
    await world.follow();
    await world.deliver(order.id);
  });

  test('leave no difference from the chain', async () => {
    await world.chain.mineMempool();
    await world.indexed();
    expect((await world.audit()).differences).toEqual([]);
  });
});
