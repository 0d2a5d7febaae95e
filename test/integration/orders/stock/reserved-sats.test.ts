import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { outputStandings } from '#chain/sats/output-standing.queries.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { refundOrder, retryOrder } from '#orders/operator/operator-orders.ts';
import { readReservations } from '#orders/stock/reservations.store.ts';
import { stockStanding } from '#orders/stock/stock-standing.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import type { OrderWorld } from '#test/support/orders/order-world.ts';
import { StockRoom } from '#test/support/orders/stock-room.ts';

const receiver = 50_000;
const refund = 50_001;
const stranger = 50_002;
const wanted = {
  files: [{ name: 'a.txt', size: 5, dataURL: 'data:text/plain;base64,aGVsbG8=' }],
  receiveAddress: addressOf(receiver),
  refundAddress: addressOf(refund),
  fee: 3,
  rareSats: 'uncommon',
};

interface Ordered {
  readonly id: string;
  readonly amount: number;
  readonly script: Buffer;
}

describe.skipIf(bitcoindForTests() === null)('a sat of the inventory that an order has reserved', () => {
  let world: OrderWorld;
  let room: StockRoom;
  beforeAll(async () => {
    room = await StockRoom.start(160);
    world = room.world;
  }, 180_000);
  afterAll(() => room?.close());
  beforeEach(() => room.forget());

  async function ordered(): Promise<Ordered> {
    const { status, body } = await room.post<{ id: string; charge: { amount: number } }>('/inscribe', wanted);
    expect([status, body]).toEqual([200, expect.objectContaining({ id: expect.any(String) as string })]);
    const { order } = (await world.customerOrders.read(body.id))!;
    return { id: body.id, amount: body.charge.amount, script: order.script };
  }

  const reveal = async (id: string) =>
    (await world.customerOrders.read(id))!.transactions.find(({ kind }) => kind === 'reveal')!;

  test('is waited for while the index does not know sats, and not given up', async () => {
    const { txid } = await room.stock(0, 10_000);
    const { id } = await ordered();
    const client = await world.database.pool.connect();
    try {
      const standing = async () => {
        const reservation = (await readReservations(client, id))[0]!;
        const found = await outputStandings(client, [{ ...reservation, reveals: [] }]);
        return stockStanding(reservation, found[0]!);
      };
      await client.query('BEGIN');
      expect(await standing()).toBe('here');
      // like in a first load, the newest outputs have no rows yet, and no index finds the present outputs
      await client.query('DELETE FROM chain.sat_ranges WHERE txid = $1', [parseTxid(txid)]);
      expect(await standing()).toBe('gone');
      await client.query('ALTER INDEX chain.sat_ranges_outpoint RENAME TO sat_ranges_later');
      expect(await standing()).toBe('away');
      await client.query('ALTER INDEX chain.sat_ranges_later RENAME TO sat_ranges_outpoint');
      await client.query("UPDATE chain.derived_tables SET is_followed = false WHERE name = 'sats'");
      expect(await standing()).toBe('away');
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
    expect(await world.customerOrders.cancel(id)).toBe(true);
  });

  test('has the price of its order’s key, and counts for that key', async () => {
    for (let place = 0; place < 6; place++) await room.stock(0, 5_000);
    const { id, key } = await giveKey(world.database.pool, {
      scopes: ['orders'],
      terms: { reservedMax: 1, discounts: [{ parameter: 'rareSatsFee', discount: 50, type: 'percentage' }] },
    });
    interface Priced {
      readonly id: string;
      readonly rareSatsFee: number;
      readonly serviceFee: number;
    }
    const send = (headers = {}) => room.post<Priced>('/inscribe', wanted, headers);
    const byKey = () => send({ 'x-api-key': key });
    const [{ body: usual }, { body: order }] = [await send(), await byKey()];
    expect(order.rareSatsFee).toBe(Math.floor(usual.rareSatsFee / 2));
    expect(usual.serviceFee - order.serviceFee).toBe(usual.rareSatsFee - order.rareSatsFee);
    const { rows } = await world.database.pool.query(
      'SELECT client FROM service.reserved_outputs WHERE order_id = $1',
      [order.id],
    );
    expect(rows).toEqual([{ client: `key(${id})` }]);
    // the orders with a key and the orders without a key do not count for each other
    expect(await byKey()).toMatchObject({ status: 409 });
    const another = await ordered();
    for (const each of [usual, order, another]) expect(await world.customerOrders.cancel(each.id)).toBe(true);
  });

  /** Moves the end of an order's time this far into the past. */
  async function over({ id }: Ordered, ago: string): Promise<void> {
    await world.database.pool.query(
      'UPDATE service.orders SET expires_at = now() - $2::interval WHERE id = $1',
      [id, ago],
    );
    await world.wake(id);
  }

  test('can no longer be paid once its output is spent elsewhere', async () => {
    const stocked = await room.stock(2_000, 10_000);
    const { id } = await ordered();
    await world.bitcoind.rpc.call('sendrawtransaction', [await room.spend(stocked, scriptOf(stranger)), 0]);
    await world.chain.mineMempool();
    await world.until(id, 'expired');
    expect((await world.customerOrders.read(id))!.order.error).toMatch(
      /sat of the inventory .* is no longer there/u,
    );
  });

  test('counts for its client once a payment that became known late takes it again', async () => {
    // of the sats without the client's own six, half can be reserved
    for (let place = 0; place < 7; place++) await room.stock(0, 5_000);
    const late = await ordered();
    await over(late, '3 minutes');
    await world.until(late.id, 'expired');
    await world.eventually(async () => (await room.count('uncommon')) === 7);
    // delete the output, so that no other order gets its sat
    await world.database.pool.query(
      `DELETE FROM service.inventory_outputs AS i USING service.reserved_outputs AS r
        WHERE r.order_id = $1 AND r.txid = i.txid AND r.vout = i.vout`,
      [late.id],
    );
    const others = [await ordered(), await ordered(), await ordered()];
    await world.database.pool.query(
      `UPDATE service.orders SET expires_at = now() + interval '10 minutes' WHERE id = $1`,
      [late.id],
    );
    const { payment } = await world.chain.pay(late.script, late.amount);
    await world.until(late.id, 'waiting-confirmation');
    expect(await world.customerOrders.cancel(others[0]!.id)).toBe(true);
    await world.eventually(async () => (await room.count('uncommon')) === 4);
    const refused = await room.post<{ error: readonly { msg: string }[] }>('/inscribe', wanted);
    expect([refused.status, refused.body.error[0]!.msg]).toEqual([
      409,
      expect.stringContaining('Your orders'),
    ]);
    for (const { id } of others.slice(1)) expect(await world.customerOrders.cancel(id)).toBe(true);
    await world.chain.mine([payment]);
    await world.until(late.id, 'queued');
    await world.sent(late.id);
    await world.chain.mineMempool();
    await world.until(late.id, 'completed');
  });

  test('is held by an unmined payment for a day, and not longer', async () => {
    await room.stock(0, 10_000);
    const order = await ordered();
    await world.chain.pay(order.script, order.amount);
    await world.until(order.id, 'waiting-confirmation');
    await world.database.pool.query(
      `UPDATE service.payments_seen SET first_seen = now() - interval '3 days' WHERE script = $1`,
      [order.script],
    );
    await over(order, '23 hours');
    await world.eventually(async () => {
      const { rows } = await world.database.pool.query<{ hours: number }>(
        'SELECT round(extract(epoch FROM look_at - now()) / 3600)::integer AS hours FROM service.orders WHERE id = $1',
        [order.id],
      );
      return rows[0]!.hours === 1;
    });
    expect(await room.count('uncommon')).toBe(0);
    await over(order, '24 hours');
    await world.eventually(async () => (await room.count('uncommon')) === 1);
    expect((await world.customerOrders.read(order.id))!.order.state).toBe('waiting-confirmation');
    // another client gets the sat
    await ordered();
    await world.chain.mineMempool();
    await world.until(order.id, 'waiting-refund');
  });

  test('counts while its order has failed, and is released a day later, or with the operator’s refund', async () => {
    for (let place = 0; place < 7; place++) await room.stock(0, 5_000);
    const free = await room.count('uncommon');
    const failed = [await ordered(), await ordered(), await ordered()];
    // a rest of this order's output goes back to the inventory
    await world.chain.pay(failed[1]!.script, 1_000);
    for (const { id } of failed) {
      // make the orders fail, for any reason
      await world.database.pool.query(
        `UPDATE service.orders SET state = 'error', error = 'its transactions cannot be made', paid_at = now() WHERE id = $1`,
        [id],
      );
      await world.wake(id);
    }
    const failedAt = async (id: string) => {
      const { rows } = await world.database.pool.query<{ failed_at: Date | null; released_at: Date | null }>(
        'SELECT failed_at, released_at FROM service.reserved_outputs WHERE order_id = $1',
        [id],
      );
      return rows[0]!;
    };
    for (const { id } of failed) await world.eventually(async () => (await failedAt(id)).failed_at !== null);
    const refused = await room.post<{ error: readonly { msg: string }[] }>('/inscribe', wanted);
    expect([refused.status, refused.body.error[0]!.msg]).toEqual([
      409,
      expect.stringContaining('Your orders'),
    ]);
    const [late, refundedOne, retried] = failed;
    // the time passes without an event, so the order must be due at its end
    const { rows } = await world.database.pool.query<{ hours: number }>(
      'SELECT round(extract(epoch FROM look_at - now()) / 3600)::integer AS hours FROM service.orders WHERE id = $1',
      [late!.id],
    );
    expect(rows[0]!.hours).toBe(24);
    for (const { id } of [late!, retried!]) {
      await world.database.pool.query(
        `UPDATE service.reserved_outputs SET failed_at = now() - interval '25 hours' WHERE order_id = $1`,
        [id],
      );
    }
    expect((await world.audit(1)).differences.map(({ kind }) => kind)).toEqual(['reserved', 'reserved']);
    for (const { id } of [late!, retried!]) await world.wake(id);
    await world.eventually(async () => (await room.count('uncommon')) === free - 1);
    await refundOrder(world.database.pool, refundedOne!.id, scriptOf(refund));
    await world.eventually(async () => (await room.count('uncommon')) === free);
    expect((await world.audit()).differences).toEqual([]);
    // a retried order has its sat again, because no other order has it
    await retryOrder(world.database.pool, retried!.id);
    await world.until(retried!.id, 'waiting-payment');
    expect((await failedAt(retried!.id)).released_at).toBeNull();
    expect(await world.customerOrders.cancel(retried!.id)).toBe(true);
    await world.until(retried!.id, 'cancelled');
  });

  test('leaves runes of the payment to its customer, in the output of the inscription', async () => {
    await room.stock(1_000, 10_000);
    const { id, amount, script } = await ordered();
    const coin = await world.chain.coin();
    const etching = transaction(
      [coin],
      [
        { value: 10_000, to: coin.owner },
        { value: coin.value - 20_000, to: coin.owner },
        { value: 0, outputScript: premined(7n) },
      ],
    );
    await world.chain.mine([etching]);
    const [runic, common] = [etching.coin(0), etching.coin(1)];
    await world.chain.broadcast(
      transaction(
        [runic, common],
        [
          { value: amount, outputScript: script },
          { value: runic.value + common.value - amount - 5_000, to: coin.owner },
        ],
      ),
    );
    await world.deliver(id);
    const { txid, plan } = await reveal(id);
    expect(plan.outputs.map(({ kind }) => kind)).toEqual([
      'inventory',
      'postage',
      'inventory',
      'service',
      'burn',
    ]);
    const { rows } = await world.database.pool.query<{ vout: number; amount: string }>(
      'SELECT vout, amount::text FROM chain.rune_balances WHERE txid = $1 AND spent_height IS NULL',
      [Buffer.from(txid)],
    );
    expect(rows).toEqual([{ vout: 1, amount: '7' }]);
    // the rests are on the inventory's list without a problem
    expect((await room.list()).map(({ output, problem }) => [displayHash(output.txid), problem])).toEqual([
      [displayHash(txid), null],
      [displayHash(txid), null],
    ]);
    expect((await world.audit()).differences).toEqual([]);
  });
});
