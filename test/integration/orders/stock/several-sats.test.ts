import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { refundOrder } from '#orders/operator/operator-orders.ts';
import { premined } from '#test/builders/regtest/etching.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import type { OrderWorld } from '#test/support/orders/order-world.ts';
import {
  type Created,
  filesOf,
  hexOf,
  type Refusal,
  receivers,
  refund,
  stockOrders,
  stranger,
  wanted,
} from '#test/support/orders/stock-orders.ts';
import { StockRoom } from '#test/support/orders/stock-room.ts';

describe.skipIf(bitcoindForTests() === null)('an order of several files on sats of the inventory', () => {
  let world: OrderWorld;
  let room: StockRoom;
  beforeAll(async () => {
    room = await StockRoom.start(190);
    world = room.world;
  }, 180_000);
  afterAll(() => room?.close());
  beforeEach(() => room.forget());

  const {
    stocks,
    order,
    refusal,
    stateOf,
    balances,
    reservedBy,
    inscribedOn,
    refunded,
    audited,
    over,
    broadcast,
  } = stockOrders(() => room);

  test.each(['/order', '/inscribe'])('has each file on its reserved sat: %s', async (url) => {
    const stocked = await stocks(6);
    const body = { ...wanted(3), receiveAddress: receivers.map(addressOf) };
    const { body: price } = await room.post<Created & { amount: number }>('/price', {
      type: url === '/order' ? 'bulk' : 'direct',
      order: body,
    });
    expect(await room.count('uncommon')).toBe(6);
    const made = await order(body, url);
    const { chainFee, serviceFee, rareSatsFee, amount } = price;
    expect(made).toMatchObject({ chainFee, serviceFee, rareSatsFee: 40_000, charge: { amount } });
    expect(rareSatsFee).toBe(40_000);
    const reserved = await reservedBy(made.id);
    expect(new Set(reserved.map(({ txid }) => txid)).size).toBe(3);
    expect(await room.count('uncommon')).toBe(3);
    await world.chain.pay(made.script, amount);
    await world.deliver(made.id);
    const inscribed = await inscribedOn(made.id);
    expect(inscribed).toEqual(
      reserved.map(({ sat }, file) => ({ sat, offset: 0, script: hexOf(receivers[file]!) })),
    );
    expect(stocked.map(({ sat }) => sat)).toEqual(expect.arrayContaining(reserved.map(({ sat }) => sat)));
    const held = await balances(made.id);
    expect(held).toMatchObject({ inventory: -3 * 546, postage: 3 * 546, outside: -amount });
    expect(held['owed']).toBeUndefined();
    // all rests are on the list again, and only the sats with their postage are gone
    const listed = await room.list();
    expect(listed.every(({ problem }) => problem === null)).toBe(true);
    expect(listed.reduce((sum, { output }) => sum + output.value, 0)).toBe(6 * 10_000 - 3 * 546);
    await audited();
  });

  test('costs as many fees of the type as it has files, in both forms of a price', async () => {
    await stocks(4);
    const ask = async (count: number) => {
      const files = Array.from({ length: count }, () => ({ name: 'a.txt', size: 100 }));
      const { body } = await room.post<Record<string, number>>('/price', {
        type: 'bulk',
        order: { files, fee: 5, rareSats: 'uncommon' },
      });
      const query = `type=bulk&size=${count * 100}&count=${count}&fee=5&rareSats=uncommon`;
      const legacy = (await room.app.inject({ url: `/price?${query}` })).json<Record<string, number>>();
      return { body, legacy };
    };
    for (const count of [1, 2]) {
      const { body, legacy } = await ask(count);
      expect(body).toMatchObject({ rareSatsFee: 40_000, count });
      expect(body['serviceFee']! - body['sizeFee']!).toBe(count * (9_000 + 40_000 + 546));
      expect([legacy['rareSatsFee'], legacy['serviceFee']]).toEqual([40_000, body['serviceFee']]);
    }
  });

  test('is refused if it can never fit, in the same words by its price, before a message to wait', async () => {
    await stocks(4);
    const both = async (body: object, headers = {}): Promise<[number, string]> => {
      const told = await refusal(body, '/order', headers);
      const priced = await refusal({ type: 'bulk', order: body }, '/price', headers);
      expect(priced).toEqual(told);
      return told;
    };
    // the message to wait is shown only for orders that can succeed later
    const first = await order(wanted(1), '/inscribe');
    expect(await both(wanted(4))).toEqual([
      400,
      'Your order can have at most 3 sats of the inventory, one for each file, but it needs 4.',
    ]);
    expect(await both(wanted(3))).toEqual([
      400,
      'rareSats: unpaid orders can have at most 2 of the 4 sats of type uncommon, but this order needs 3.',
    ]);
    const { key } = await giveKey(world.database.pool, { scopes: ['orders'], terms: { reservedMax: 1 } });
    expect(await both(wanted(2), { 'x-api-key': key })).toEqual([
      400,
      'Your order can have at most 1 sats of the inventory, one for each file, but it needs 2.',
    ]);
    expect(await refusal(wanted(2))).toEqual([
      409,
      'Orders that are not paid yet, or failed, can have half of the sats of this type. Try again within 30 minutes.',
    ]);
    // if a key allows all sats, only the stock is the bound
    const generous = await giveKey(world.database.pool, {
      scopes: ['orders'],
      terms: { reservedMax: 2_000 },
    });
    expect(await both(wanted(5), { 'x-api-key': generous.key })).toEqual([
      400,
      'rareSats: unpaid orders can have at most 2 of the 4 sats of type uncommon, but this order needs 5.',
    ]);
    const long = { ...filesOf(1)[0]!, dataURL: 'data:text/plain;base64,' };
    expect(await refusal({ ...wanted(2), files: [...filesOf(1), long] })).toEqual([
      400,
      'Sats of type uncommon are for files of 1 to 390000 bytes, not of 0 (file 2).',
    ]);
    expect(await world.customerOrders.cancel(first.id)).toBe(true);
    await world.until(first.id, 'cancelled');
    // refused orders reserve nothing
    expect(await room.count('uncommon')).toBe(4);
  });

  test('counts its sats for its client, for its key, and for all clients of the type', async () => {
    await stocks(8);
    const made = await order(wanted(2));
    const [status, told] = await refusal(wanted(2));
    expect([status, told]).toEqual([409, expect.stringContaining('can have 3 sats of the inventory')]);
    const { key } = await giveKey(world.database.pool, { scopes: ['orders'], terms: { reservedMax: 2 } });
    const keyed = await order(wanted(2), '/order', { 'x-api-key': key });
    expect((await refusal(wanted(1), '/order', { 'x-api-key': key }))[0]).toBe(409);
    // this is half of the eight sats
    expect(await refusal(wanted(1))).toEqual([409, expect.stringContaining('half of the sats')]);
    for (const { id } of [made, keyed]) {
      expect(await world.customerOrders.cancel(id)).toBe(true);
      await world.until(id, 'cancelled');
      await world.eventually(async () => (await reservedBy(id)).every(({ isHeld }) => !isHeld));
    }
    expect(await room.count('uncommon')).toBe(8);
  });

  test('gets all of its sats or none if another order wants some of them at once', async () => {
    await stocks(4);
    const { key } = await giveKey(world.database.pool, { scopes: ['orders'], terms: { reservedMax: 2 } });
    const both = await Promise.all([
      room.post<Created & Refusal>('/order', wanted(2)),
      room.post<Created & Refusal>('/order', wanted(2), { 'x-api-key': key }),
    ]);
    // half of the four sats are for one of the two orders
    const [one, other] = both.toSorted((a, b) => a.status - b.status);
    expect([one!.status, other!.status]).toEqual([200, 409]);
    const { rows } = await world.database.pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM service.reserved_outputs
         JOIN service.inventory_outputs USING (txid, vout) WHERE released_at IS NULL`,
    );
    expect(rows).toEqual([{ count: 2 }]);
    expect(await world.customerOrders.cancel(one!.body.id)).toBe(true);
    await world.until(one!.body.id, 'cancelled');
  });

  test('gives all of them back when its time is over, and takes all of them again if it was paid in time', async () => {
    await stocks(4);
    const made = await order(wanted(2));
    await over(made.id);
    await world.until(made.id, 'expired');
    await world.eventually(async () => (await room.count('uncommon')) === 4);
    // a payment that was in time becomes known late
    await world.database.pool.query(
      `UPDATE service.orders SET expires_at = now() + interval '10 minutes' WHERE id = $1`,
      [made.id],
    );
    await world.chain.pay(made.script, made.charge.amount);
    await world.until(made.id, 'waiting-confirmation');
    expect((await reservedBy(made.id)).map(({ isHeld }) => isHeld)).toEqual([true, true]);
    await world.deliver(made.id);
    expect((await inscribedOn(made.id)).map(({ sat }) => sat)).toEqual(
      (await reservedBy(made.id)).map(({ sat }) => sat),
    );
    await audited();
  });

  test('is refunded whole if one sat is spent before the delivery, and the others are free', async () => {
    const stocked = await stocks(4);
    const made = await order(wanted(2));
    const [first] = await reservedBy(made.id);
    const lost = stocked.find(({ txid }) => txid === first!.txid)!;
    await broadcast(await room.spend(lost, scriptOf(stranger)));
    await world.chain.mineMempool();
    await world.chain.pay(made.script, made.charge.amount);
    await world.chain.mineMempool();
    await world.until(made.id, 'waiting-refund');
    expect((await stateOf(made.id)).error).toMatch(/sat of the inventory .* is no longer there/u);
    expect((await reservedBy(made.id)).map(({ isHeld }) => isHeld)).toEqual([false, false]);
    expect(await room.count('uncommon')).toBe(3);
    await refunded(made);
  });

  test('is not refunded on request while the mempool has its commit', async () => {
    await stocks(4);
    const made = await order(wanted(2));
    await world.chain.pay(made.script, made.charge.amount);
    await world.chain.mineMempool();
    await world.until(made.id, 'queued');
    await world.sent(made.id);
    await refundOrder(world.database.pool, made.id, scriptOf(refund));
    // the order's commit is in the mempool
    await world.eventually(
      async () => (await stateOf(made.id)).error?.startsWith('The order is not refunded') === true,
    );
    await world.chain.mineMempool();
    await world.until(made.id, 'completed');
    await audited();
  });

  test('is delivered again after a reorganisation of its reveals', async () => {
    await stocks(4);
    const made = await order(wanted(2));
    await world.chain.pay(made.script, made.charge.amount);
    await world.deliver(made.id);
    const inscribed = await inscribedOn(made.id);
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await world.until(made.id, 'queued');
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await stateOf(made.id)).state === 'completed';
    });
    expect(await inscribedOn(made.id)).toEqual(inscribed);
    expect((await room.list()).every(({ problem }) => problem === null)).toBe(true);
    await audited();
  });

  test('leaves runes of its payment in the output of the first inscription', async () => {
    // add other sats first, because the inventory has the first output of the order's reveal
    for (let each = 0; each < 4; each++) await room.stock(1_000, 10_000);
    const { id, charge, script } = await order(wanted(2));
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
          { value: charge.amount, outputScript: script },
          { value: runic.value + common.value - charge.amount - 5_000, to: coin.owner },
        ],
      ),
    );
    await world.deliver(id);
    const reveals = (await world.customerOrders.read(id))!.transactions.filter(
      ({ kind }) => kind === 'reveal',
    );
    expect(reveals.map(({ plan }) => plan.outputs.map(({ kind }) => kind))).toEqual([
      ['inventory', 'postage', 'inventory', 'service', 'burn'],
      ['inventory', 'postage', 'inventory', 'service'],
    ]);
    const { rows } = await world.database.pool.query<{ txid: Buffer; vout: number; amount: string }>(
      'SELECT txid, vout, amount::text FROM chain.rune_balances WHERE spent_height IS NULL',
    );
    expect(rows).toEqual([{ txid: Buffer.from(reveals[0]!.txid), vout: 1, amount: '7' }]);
    expect((await inscribedOn(id)).map(({ sat }) => sat)).toEqual(
      (await reservedBy(id)).map(({ sat }) => sat),
    );
    await audited();
  });
});
