import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';
import { tellCustomer } from '#orders/customers/tell-customer.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import type { OrderWorld } from '#test/support/orders/order-world.ts';
import { proxyAddress, StockRoom } from '#test/support/orders/stock-room.ts';

const receiver = 50_000;
const refund = 50_001;
const stranger = 50_002;
const text = 'data:text/plain;base64,aGVsbG8=';
const wanted = {
  files: [{ name: 'a.txt', size: 5, dataURL: text }],
  receiveAddress: addressOf(receiver),
  refundAddress: addressOf(refund),
  fee: 3,
  rareSats: 'uncommon',
};
const hexOf = (owner: number): string => Buffer.from(scriptOf(owner)).toString('hex');

interface Created {
  readonly id: string;
  readonly charge: { readonly amount: number };
  readonly rareSats: string;
  readonly rareSatsFee: number;
  readonly serviceFee: number;
  readonly chainFee: number;
}
interface Refusal {
  readonly error: readonly { readonly msg: string }[];
}

describe.skipIf(bitcoindForTests() === null)('an order of a sat of the inventory', () => {
  let world: OrderWorld;
  let room: StockRoom;
  beforeAll(async () => {
    room = await StockRoom.start(180);
    world = room.world;
  }, 180_000);
  afterAll(() => room?.close());
  // a test may leave sats reserved; these sats are neither stock of the next test nor counted there
  beforeEach(() => room.forget());

  async function ordered(more: object = {}): Promise<Created & { script: Buffer }> {
    const { status, body } = await room.post<Created>('/inscribe', { ...wanted, ...more });
    expect([status, body]).toEqual([200, expect.objectContaining({ id: expect.any(String) as string })]);
    const found = await world.customerOrders.read(body.id);
    return { ...body, script: found!.order.script };
  }

  async function paid(more: object = {}): Promise<Created & { script: Buffer }> {
    const order = await ordered(more);
    await world.chain.pay(order.script, order.charge.amount);
    return order;
  }

  /** Reads all balances of an order that are not zero. */
  async function balances(id: string): Promise<Record<string, number>> {
    const held = balancesOf(await readEntries(world.database.pool, { kind: 'order', id }));
    return Object.fromEntries(
      [...held].filter(([, sats]) => sats !== 0n).map(([name, sats]) => [name, Number(sats)]),
    );
  }

  /** The txid of the commit in the messages that the customer of an order gets. */
  async function toldCommit(id: string): Promise<string | undefined> {
    const { order } = (await world.customerOrders.read(id))!;
    await withTransaction(world.database.pool, (tx) => tellCustomer(tx, { ...order, state: 'queued' }));
    const told = (await world.customerOrders.events(id, 0, 10)) ?? [];
    return told
      .map(({ body }) => JSON.parse(body) as { tx?: { commit: string } })
      .find(({ tx }) => tx !== undefined)?.tx?.commit;
  }

  /** The client that counts for the unpaid sat of an order. Null if the order is paid. */
  async function clientOf(id: string): Promise<string | null> {
    const { rows } = await world.database.pool.query<{ client: string | null }>(
      'SELECT client FROM service.reserved_outputs WHERE order_id = $1',
      [id],
    );
    return rows[0]!.client;
  }

  async function audited(): Promise<void> {
    expect((await world.audit()).differences).toEqual([]);
  }

  /** Reads the inscription's sat, and its position, from the index. */
  async function inscribedOn(id: string) {
    const found = await world.customerOrders.read(id);
    const [reveal] = found!.transactions.filter(({ kind }) => kind === 'reveal');
    const { rows } = await world.database.pool.query<{
      sat: number;
      vout: number;
      offset: number;
      script: Buffer;
    }>(
      `SELECT s.sat, l.vout, l.sat_offset AS offset, l.script
         FROM chain.inscriptions AS i JOIN chain.sats AS s USING (key)
        CROSS JOIN LATERAL (
          SELECT * FROM chain.locations AS l WHERE l.key = i.key ORDER BY l.height DESC, l.step DESC LIMIT 1) AS l
        WHERE i.txid = $1`,
      [Buffer.from(reveal!.txid)],
    );
    expect(rows).toHaveLength(1);
    const { sat, vout, offset, script } = rows[0]!;
    return { reveal: reveal!, sat: Number(sat), vout, offset, script: script.toString('hex') };
  }

  /** Checks that each listed output contains the sats of its row, according to the index of sats. */
  async function expectListedAsIndexed(): Promise<void> {
    for (const { output, problem } of await room.list()) {
      if (problem !== null) continue;
      const { rows } = await world.database.pool.query<{ ranges: Buffer }>(
        'SELECT ranges FROM chain.sat_ranges WHERE txid = $1 AND vout = $2',
        [Buffer.from(output.txid), output.vout],
      );
      expect(unpackRanges(rows[0]!.ranges)).toEqual(output.ranges);
    }
  }

  test('gets savings by its own plan: with its input, and without what it excludes', async () => {
    await room.stock(4_000, 10_000, 7);
    const advised = async (
      fields: object,
    ): Promise<{
      chainFee: number;
      savings: { code: string; sats: number }[];
      warnings: { code: string; message: string }[];
    }> => {
      const { body } = await room.post<Awaited<ReturnType<typeof advised>>>('/price?plan=1', {
        type: 'direct',
        order: { ...wanted, ...fields },
      });
      return body;
    };
    const compressed = await advised({ compress: true });
    const plain = await advised({});
    const saved = plain.savings.filter(({ code }) => code === 'compress').map(({ sats }) => sats);
    const cheaper = plain.chainFee - compressed.chainFee;
    expect(saved).toEqual(cheaper > 0 ? [cheaper] : []);
    const messages = plain.warnings.filter(({ code }) => code === 'vindicated').map(({ message }) => message);
    expect(messages).toEqual([expect.stringContaining('The pointer to the sat causes this.')]);
  });

  test.each([
    { place: 0, value: 10_000, postage: 546 },
    { place: 4_000, value: 10_000, postage: 546 },
    { place: 330, value: 1_206, postage: 546 },
    { place: 0, value: 400, postage: 400 },
    { place: 2_000, value: 2_546, postage: 546 },
  ])('is inscribed on it, after $place of $value sats', async ({ place, value, postage }) => {
    const stocked = await room.stock(place, value, 7);
    expect(await room.count('uncommon')).toBe(postage === 546 ? 1 : 0);
    const price = await room.post<Created & { amount: number }>('/price', {
      type: 'direct',
      order: { ...wanted, postage },
    });
    const order = await paid({ postage });
    // the order has the price of its only transaction
    expect(order).toMatchObject({
      rareSats: 'uncommon',
      rareSatsFee: 40_000,
      serviceFee: 42_000 + postage,
      chainFee: price.body.chainFee,
      charge: { amount: price.body.amount },
    });
    expect(await room.count('uncommon')).toBe(0);
    await world.deliver(order.id);

    const { sat, offset, vout, script, reveal } = await inscribedOn(order.id);
    expect([sat, offset, script]).toEqual([stocked.sat, 0, hexOf(receiver)]);
    const { plan, fee } = reveal;
    expect(fee).toBe(order.chainFee);
    expect(plan.outputs[vout]).toMatchObject({ kind: 'postage', value: postage });
    expect(plan.inputs[0]).toEqual({ outpoint: `${stocked.txid}:0`, value, isInventory: true });
    const rests = [place, value - place - postage].filter((sats) => sats > 0);
    expect(plan.outputs.filter(({ kind }) => kind === 'inventory')).toEqual(
      rests.map((sats) => ({
        kind: 'inventory',
        value: sats,
        script: Buffer.from(stocked.script).toString('hex'),
      })),
    );
    // the rest is on the list again without any action, at its new position
    const listed = await room.list();
    expect(listed.map(({ output, problem }) => [displayHash(output.txid), output.value, problem])).toEqual(
      rests.map((sats) => [displayHash(reveal.txid), sats, null]),
    );
    await expectListedAsIndexed();

    const { amount } = order.charge;
    expect(await balances(order.id)).toEqual({
      outside: -amount,
      inventory: -postage,
      postage,
      fee,
      service: amount - fee,
    });
    await audited();
    expect(await world.customerOrders.read(order.id)).toMatchObject({
      order: { state: 'completed', error: null },
    });
    expect(await clientOf(order.id)).toBeNull();
    // the payment itself is the commit of the inscription
    expect(await toldCommit(order.id)).toBe(plan.inputs[1]!.outpoint.slice(0, 64));
  });

  test('can name a satribute and a prefix, and refunds an excess payment', async () => {
    const stocked = await room.stock(1_000, 8_000);
    const order = await ordered({ rareSats: 'uncommon', inscriptionIdPrefix: '0a' });
    await world.chain.pay(order.script, order.charge.amount - 1_000);
    await world.chain.pay(order.script, 51_000);
    await world.deliver(order.id);
    const { sat, reveal } = await inscribedOn(order.id);
    expect(sat).toBe(stocked.sat);
    expect(displayHash(reveal.txid)).toMatch(/^0a/u);
    // the refund of the excess
    await world.sent(order.id, ['refund']);
    await world.chain.mineMempool();
    await world.eventually(async () => (await balances(order.id))['owed'] === undefined);
    expect(await balances(order.id)).toMatchObject({ inventory: -546, postage: 546 });
    await audited();
  });

  test('shows its type as it was sent', async () => {
    await room.stock(0, 10_000);
    // the list decides which sats there are
    await world.database.pool.query(
      "UPDATE service.inventory_outputs SET ranges = '{45000010000,45000020000}'",
    );
    expect(await room.count('block9450x')).toBe(1);
    for (const rareSats of ['block9450x', 'block9_450x']) {
      const { id, rareSats: shown } = await ordered({ rareSats });
      expect(shown).toBe(rareSats);
      expect(await world.customerOrders.cancel(id)).toBe(true);
      await world.eventually(async () => (await room.count('block9450x')) === 1);
    }
  });

  test('is the only one with its sat: of two for the last one, one gets it', async () => {
    const stocked = await room.stock(0, 10_000);
    expect(await room.count('uncommon')).toBe(1);
    const both = await Promise.all([
      room.post<Created & Refusal>('/inscribe', wanted),
      room.post<Created & Refusal>('/inscribe', wanted),
    ]);
    const [made, refused] = both.toSorted((a, b) => a.status - b.status);
    expect([made!.status, [400, 409].includes(refused!.status)]).toEqual([200, true]);
    expect(refused!.body.error[0]!.msg).toMatch(/no sat of type uncommon now|has just taken this sat/u);
    expect(await room.count('uncommon')).toBe(0);
    const third = await room.post<Refusal>('/inscribe', wanted);
    expect([third.status, third.body.error]).toEqual([
      400,
      [{ msg: 'rareSats: there is no sat of type uncommon now.' }],
    ]);
    // after this order is cancelled, another client gets the sat
    expect(await world.customerOrders.cancel(made!.body.id)).toBe(true);
    await world.eventually(async () => (await room.count('uncommon')) === 1);
    const next = await paid();
    await world.deliver(next.id);
    expect((await inscribedOn(next.id)).sat).toBe(stocked.sat);
    await audited();
  });

  test('each of several at once has its own sat', async () => {
    const stock = [await room.stock(0, 10_000), await room.stock(500, 9_000), await room.stock(0, 546)];
    // half of these sats can be reserved
    for (let more = 0; more < 3; more++) stock.push(await room.stock(0, 5_000));
    const made = await Promise.all([ordered(), ordered(), ordered()]);
    for (const { script, charge } of made) await world.chain.pay(script, charge.amount);
    await world.chain.mineMempool();
    const sats: number[] = [];
    for (const { id } of made) {
      await world.until(id, 'queued');
      await world.sent(id);
    }
    await world.chain.mineMempool();
    for (const { id } of made) {
      await world.until(id, 'completed');
      sats.push((await inscribedOn(id)).sat);
    }
    expect(new Set(sats).size).toBe(3);
    expect(stock.map(({ sat }) => sat)).toEqual(expect.arrayContaining(sats));
    await expectListedAsIndexed();
    await audited();
  });

  test('is one of at most three unpaid ones of an address', async () => {
    for (let place = 0; place < 6; place++) await room.stock(0, 5_000);
    const made = [await ordered(), await ordered(), await ordered()];
    const fourth = await room.post<Refusal>('/inscribe', wanted);
    expect([fourth.status, fourth.body.error[0]!.msg]).toEqual([
      409,
      expect.stringContaining('can have 3 sats of the inventory') as string,
    ]);
    expect(await world.customerOrders.cancel(made[0]!.id)).toBe(true);
    await ordered();
    for (const { id } of made.slice(1)) expect(await world.customerOrders.cancel(id)).toBe(true);
  });

  test('counts clients behind a proxy that names none as one client', async () => {
    for (let more = 0; more < 4; more++) await room.stock(0, 5_000);
    for (let more = 0; more < 2; more++) {
      const answer = await room.app.inject({
        method: 'POST',
        url: '/inscribe',
        payload: wanted,
        remoteAddress: proxyAddress,
      });
      const { id } = answer.json<Created>();
      expect(await clientOf(id)).toBe(proxyAddress);
    }
  });

  test('waits for 30 minutes, and then gives its sat back', async () => {
    const stocked = await room.stock(0, 5_000);
    // clients of the public service always send this value
    const order = await ordered({ timeout: 4_320 });
    const found = await world.customerOrders.read(order.id);
    const waits = found!.order.expiresAt.getTime() - found!.order.createdAt.getTime();
    expect(Math.round(waits / 60_000)).toBe(30);
    expect(await room.count('uncommon')).toBe(0);
    await world.database.pool.query(
      `UPDATE service.orders SET expires_at = now() - interval '1 second' WHERE id = $1`,
      [order.id],
    );
    await world.wake(order.id);
    await world.until(order.id, 'expired');
    // a payment that was in time may become known late
    expect(await room.count('uncommon')).toBe(0);
    await world.database.pool.query(
      `UPDATE service.orders SET expires_at = now() - interval '2 minutes' WHERE id = $1`,
      [order.id],
    );
    await world.wake(order.id);
    await world.eventually(async () => (await room.count('uncommon')) === 1);
    expect(await clientOf(order.id)).not.toBeNull();
    // another client gets the sat, and a late payment is refunded
    const other = await paid();
    await world.chain.pay(order.script, order.charge.amount);
    await world.deliver(other.id);
    expect((await inscribedOn(other.id)).sat).toBe(stocked.sat);
    await refunded(order);
  });

  /** Checks that everything that was paid is refunded, minus the fee of the refund. */
  async function refunded({ id, charge }: Created): Promise<void> {
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await world.customerOrders.read(id))!.order.state === 'refunded';
    });
    const { outside, fee = 0, ...others } = await balances(id);
    expect([outside, others]).toEqual([-fee, {}]);
    const found = await world.customerOrders.read(id);
    const [back] = found!.transactions.filter(({ kind }) => kind === 'refund');
    expect(back!.plan.outputs).toEqual([
      { kind: 'refund', value: charge.amount - back!.fee, script: hexOf(refund) },
    ]);
    await audited();
  }

  test('is refunded if the operator spends its output before it is paid', async () => {
    const stocked = await room.stock(2_000, 10_000);
    const order = await ordered();
    await broadcast(await room.spend(stocked, scriptOf(stranger)));
    await world.chain.mineMempool();
    await world.chain.pay(order.script, order.charge.amount);
    await world.chain.mineMempool();
    await world.until(order.id, 'waiting-refund');
    expect((await world.customerOrders.read(order.id))!.order.error).toMatch(
      /sat of the inventory .* is no longer there/u,
    );
    await refunded(order);
    expect((await world.customerOrders.read(order.id))!.order.error).toMatch(
      /sat of the inventory .* is no longer there/u,
    );
    expect(await room.count('uncommon')).toBe(0);
  });

  test('is refunded if the operator spends its output once its reveal is sent', async () => {
    const stocked = await room.stock(0, 20_000);
    const order = await paid();
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    // this transaction replaces the reveal
    await broadcast(await room.spend(stocked, scriptOf(stranger), 15_000));
    await world.chain.mineMempool();
    await refunded(order);
  });

  const broadcast = (hex: string): Promise<unknown> =>
    world.bitcoind.rpc.call('sendrawtransaction', [hex, 0]);

  test('is delivered again after a reorganisation of its reveal, and so are its rests', async () => {
    const stocked = await room.stock(1_500, 10_000);
    const order = await paid();
    await world.deliver(order.id);
    await world.chain.takeBack(1);
    await world.chain.mineEmpty(2);
    await world.until(order.id, 'queued');
    // the sat is not free for others in the meantime
    expect(await room.count('uncommon')).toBe(0);
    await world.eventually(async () => {
      await world.chain.mineMempool();
      const found = await world.customerOrders.read(order.id);
      return found!.order.state === 'completed';
    });
    const { sat, reveal } = await inscribedOn(order.id);
    expect(sat).toBe(stocked.sat);
    expect((await room.list()).map(({ output, problem }) => [displayHash(output.txid), problem])).toEqual([
      [displayHash(reveal.txid), null],
      [displayHash(reveal.txid), null],
    ]);
    await expectListedAsIndexed();
    await audited();
  });

  test('is delivered after a reorganisation of the output that has its sat', async () => {
    const stocked = await room.stock(0, 10_000);
    const order = await paid();
    await world.chain.mineMempool();
    await world.until(order.id, 'queued');
    await world.sent(order.id);
    // take back the block of this transaction, and the block of the payment
    await world.chain.takeBack(2);
    await world.chain.mineEmpty(3);
    await world.indexed();
    await world.eventually(async () => {
      await world.chain.mineMempool();
      return (await world.customerOrders.read(order.id))!.order.state === 'completed';
    });
    expect((await inscribedOn(order.id)).sat).toBe(stocked.sat);
    await audited();
  });

  test('is refunded if a reorganisation removes the output with its sat for good', async () => {
    const stocked = await room.stock(0, 10_000);
    const order = await ordered();
    await world.chain.takeBack(1);
    // someone spends the special coin in another transaction
    const { rpc } = world.bitcoind;
    const { vin } = await rpc.call<{ vin: readonly { txid: string; vout: number }[] }>('getrawtransaction', [
      stocked.txid,
      true,
    ]);
    const coin = await world.bitcoind.rpc.call<{ value: number }>('gettxout', [
      vin[0]!.txid,
      vin[0]!.vout,
      false,
    ]);
    const value = Math.round(coin.value * 100_000_000);
    const owner = stocked.made.coin(1).owner;
    const other = transaction(
      [{ txid: vin[0]!.txid, vout: vin[0]!.vout, value, owner }],
      [{ value: value - 100_000, to: owner }],
    );
    await world.chain.mine([other]);
    await world.chain.mineEmpty(1);
    await world.chain.pay(order.script, order.charge.amount);
    await world.chain.mineMempool();
    await world.until(order.id, 'prep');
    await world.chain.mineEmpty(5);
    await refunded(order);
  });

  const parent = { inscriptionId: `${'ab'.repeat(32)}i0`, returnAddress: addressOf(refund), value: 10_000 };
  test.each<[string, object, string]>([
    [
      'several files in one output',
      { files: [...wanted.files, ...wanted.files], batchMode: 'shared-output' },
      'rareSats is not possible with batchMode shared-output, because each special sat is in an output of its own.',
    ],
    [
      'more files than an order has reveals',
      { files: Array.from({ length: 151 }, () => wanted.files[0]) },
      'An order with rareSats has at most 150 files and delegates, because each of them needs its own reveal. This order has 151.',
    ],
    ['parents', { parents: [parent] }, 'rareSats is not possible with parents.'],
    [
      'uncurseIt',
      { uncurseIt: true },
      'rareSats is not possible with uncurseIt, because a pointer to a sat is a curse.',
    ],
    [
      'burnAfterInscribe',
      { burnAfterInscribe: true },
      'rareSats is not possible with burnAfterInscribe, because the special sat would be burned.',
    ],
    [
      'allowedSatributes',
      { allowedSatributes: ['uncommon'] },
      'rareSats is not possible with allowedSatributes, because allowedSatributes is for sats of the payment.',
    ],
    ['an unknown type', { rareSats: 'gold' }, 'rareSats must be one of random, black, block286'],
    ['a type that is sold out', { rareSats: 'pizza' }, 'rareSats: there is no sat of type pizza now.'],
    [
      'more postage than the usual',
      { postage: 547 },
      'postage is at most 546 sats with rareSats, but this order has 547.',
    ],
    [
      'a postage that leaves no output',
      { postage: 330, rareSats: 'block9' },
      'rareSats: there is no sat of type block9 now with a postage of 330 sats.',
    ],
    ['an invalid timeout', { timeout: 45 }, 'timeout must be a multiple of 10 minutes, and at most 43200'],
    [
      'a file without content',
      { files: [{ name: 'a.txt', size: 0, dataURL: 'data:text/plain;base64,' }] },
      'Sats of type uncommon are for files of 1 to 390000 bytes, not of 0.',
    ],
  ])('is refused with %s, before there is an address', async (_name, more, message) => {
    await room.stock(0, 10_000);
    const { status, body } = await room.post<Refusal>('/inscribe', { ...wanted, ...more });
    expect([status, body.error?.[0]?.msg.slice(0, message.length)]).toEqual([400, message]);
    const { rows } = await world.database.pool.query(
      'SELECT FROM service.reserved_outputs AS r JOIN service.inventory_outputs USING (txid, vout)',
    );
    expect(rows).toEqual([]);
  });

  test('is refused without an index of the sats of all blocks', async () => {
    await room.stock(0, 10_000);
    await world.database.pool.query(
      `UPDATE chain.derived_tables SET is_followed = false WHERE name = 'sats'`,
    );
    const { status, body } = await room.post<Refusal>('/inscribe', wanted);
    const listed = await room.app.inject({ url: '/inventory' });
    await world.database.pool.query(`UPDATE chain.derived_tables SET is_followed = true WHERE name = 'sats'`);
    expect([status, body]).toEqual([
      503,
      {
        status: 'error',
        reason:
          'rareSats is not possible, because this service has no index of sats (INDEX_SATS), or is still making this index',
      },
    ]);
    expect(listed.json()).toMatchObject({ uncommon: { amount: 1, count: 0, minSize: 100_000_000 } });
    expect(await room.count('uncommon')).toBe(1);
    // `random` does not need such a sat
    expect((await room.post('/inscribe', { ...wanted, rareSats: 'random' })).status).toBe(200);
  });
});
