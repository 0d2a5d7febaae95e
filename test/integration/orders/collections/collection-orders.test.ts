import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { auditCollections } from '#orders/audit/audit-collections.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { addressOf, scriptOf, transaction } from '#test/builders/regtest/regtest-transaction.ts';
import {
  type CollectionSpec,
  insertCollection,
  requireExactCounts,
} from '#test/support/collections/collection-rows.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';
import { testAccess } from '#test/support/http/search-access.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { OrderWorld } from '#test/support/orders/order-world.ts';
import { runCli } from '#test/support/run-cli.ts';

const receiver = 60_000;
const refund = 60_001;
const listed = 60_002;
const creatorAddress = addressOf(60_003);

interface Created {
  readonly id: string;
  readonly charge: { readonly amount: number; readonly address: string };
  readonly price: number;
  readonly serviceFee: number;
  readonly collection: { readonly items: readonly number[] };
  readonly files: readonly { readonly name: string; readonly url: string; readonly size: number }[];
}
let buyers = 0;
interface Refusal {
  readonly error: readonly { readonly msg: string }[];
}

describe.skipIf(bitcoindForTests() === null)('an order of a collection', () => {
  let world: OrderWorld;
  let app: App;
  let close: () => Promise<void>;
  beforeAll(async () => {
    world = await OrderWorld.start();
    const access = testAccess(world.database.accessPool, { mode: 'open' });
    app = buildCheckedApp({
      ...readerParts(world.database.readers),
      node: world.bitcoind.rpc,
      orders: world.customerOrders,
      access: access.access,
    });
    close = async () => {
      await app.close();
      await access.close();
      await world.close();
    };
  }, 180_000);
  afterAll(() => close?.());

  /** Makes a collection in the state after its approval, with its files on the disk. */
  async function approved(spec: CollectionSpec): Promise<void> {
    const files = new CustomerFiles(join(world.dir, 'files'));
    for (let item = 0; item < spec.items; item++) await files.put(Buffer.from(String(item)));
    await insertCollection(world.database.pool, spec);
  }

  async function post<Body>(collection: object, more: object = {}): Promise<{ status: number; body: Body }> {
    const payload = {
      collection,
      receiveAddress: addressOf(receiver),
      refundAddress: addressOf(refund),
      fee: 2,
      token: 'solved',
      ...more,
    };
    // each buyer has its own network, so that unpaid items of one buyer do not count for another
    const remoteAddress = `10.${++buyers >> 8}.${buyers & 255}.1`;
    const answer = await app.inject({ method: 'POST', url: '/collectionorder', payload, remoteAddress });
    return { status: answer.statusCode, body: answer.json() };
  }

  async function ordered(collection: object, more: object = {}): Promise<Created & { script: Buffer }> {
    const { status, body } = await post<Created>(collection, more);
    expect([status, body]).toEqual([200, expect.objectContaining({ id: expect.any(String) as string })]);
    const found = await world.customerOrders.read(body.id);
    return { ...body, script: found!.order.script };
  }

  async function balances(id: string): Promise<Record<string, number>> {
    const held = balancesOf(await readEntries(world.database.pool, { kind: 'order', id }));
    return Object.fromEntries(
      [...held].filter(([, sats]) => sats !== 0n).map(([name, sats]) => [name, Number(sats)]),
    );
  }

  const stateOf = async (id: string) => (await world.customerOrders.read(id))?.order;

  test('inscribes the approved files, and its creator is owed the price', async () => {
    await approved({ id: 'moths', items: 6, price: 5_000, creatorAddress });
    const priceOf = async (collection: object) => {
      const payload = { order: { collection, receiveAddress: addressOf(receiver), fee: 2 } };
      const answer = await app.inject({ method: 'POST', url: '/price', payload });
      return answer.json<{ amount: number; price: number; warnings?: { code: string }[] }>();
    };
    const exact = await priceOf({ id: 'moths', requestedIds: [5, '2'] });
    const most = await priceOf({ id: 'moths', count: 2 });
    expect([exact.price, exact.warnings, most.warnings?.map(({ code }) => code)]).toEqual([
      5_000,
      undefined,
      ['drawn'],
    ]);
    expect(most.amount).toBeGreaterThanOrEqual(exact.amount);
    const order = await ordered({ id: 'moths', requestedIds: [5, '2'] });
    expect(order.charge.amount).toBe(exact.amount);
    expect(order).toMatchObject({
      collection: { id: 'moths', count: 2, type: 'requested', items: [5, 2] },
      price: 5_000,
      fileCount: 2,
      orderType: 'bulk',
      files: [
        { name: '4.txt', size: 1 },
        { name: '1.txt', size: 1 },
      ],
    });
    // the service serves files as they were approved
    const served = await app.inject({ url: new URL(order.files[0]!.url).pathname });
    expect(served.body).toBe('4');
    expect((await post<Refusal>({ id: 'moths', requestedIds: [2] })).status).toBe(409);

    await world.chain.pay(order.script, order.charge.amount);
    await world.deliver(order.id);
    const read = await app.inject({ url: `/order?id=${order.id}` });
    const { files, price, collection } = read.json<Created & { files: { inscriptionId: string }[] }>();
    expect([price, collection.items]).toEqual([5_000, [5, 2]]);
    const content = await app.inject({ url: `/content/${files[1]!.inscriptionId}` });
    expect(content.body).toBe('1');
    expect(await balances(order.id)).toMatchObject({
      outside: -order.charge.amount,
      creator: 10_000,
    });
    // the market has the items, in the order of their inscriptions
    const { rows: sold } = await world.database.pool.query(
      `SELECT name FROM service.market_items WHERE slug = 'moths' ORDER BY place`,
    );
    expect(sold).toEqual([{ name: '4.txt' }, { name: '1.txt' }]);
    await requireExactCounts(world.database.pool, 'moths');
    expect(await world.audit()).toMatchObject({ differences: [], collections: [] });
  });

  test('gives its items back when its time is over, and refunds later payments', async () => {
    await approved({ id: 'one-off', items: 1 });
    const order = await ordered({ id: 'one-off', count: 1 });
    expect(await post<Refusal>({ id: 'one-off', count: 1 })).toMatchObject({ status: 400 });
    await world.database.pool.query(
      `UPDATE service.orders SET expires_at = now() - interval '10 minutes' WHERE id = $1`,
      [order.id],
    );
    await world.wake(order.id);
    await world.until(order.id, 'expired');
    const next = await ordered({ id: 'one-off', count: 1 });
    await world.chain.pay(order.script, order.charge.amount);
    await world.chain.pay(next.script, next.charge.amount);
    await world.deliver(next.id);
    await world.until(order.id, 'refunded');
    await requireExactCounts(world.database.pool, 'one-off');
    expect((await world.audit()).collections).toEqual([]);
  });

  /** Moves the end of an order's time to pay into the past. */
  async function over(id: string, ago: string): Promise<void> {
    await world.database.pool.query(
      `UPDATE service.orders SET expires_at = now() - $2::interval WHERE id = $1`,
      [id, ago],
    );
    await world.wake(id);
  }

  const standingOf = async (id: string): Promise<unknown> =>
    (
      await world.database.pool.query<{ standing: string }>(
        'SELECT standing FROM service.mint_orders WHERE order_id = $1',
        [id],
      )
    ).rows[0]?.standing;

  test('keeps its items for a day while its payment waits, and is refunded once the payment is mined', async () => {
    await approved({ id: 'patient', items: 1 });
    const order = await ordered({ id: 'patient', count: 1 });
    await world.chain.pay(order.script, order.charge.amount);
    await world.until(order.id, 'waiting-confirmation');
    // this payment came in time
    await world.database.pool.query(
      `UPDATE service.payments_seen SET first_seen = now() - interval '3 days' WHERE script = $1`,
      [order.script],
    );
    await over(order.id, '23 hours');
    await world.eventually(async () => {
      const { rows } = await world.database.pool.query<{ hours: number }>(
        'SELECT round(extract(epoch FROM look_at - now()) / 3600)::integer AS hours FROM service.orders WHERE id = $1',
        [order.id],
      );
      return rows[0]!.hours === 1;
    });
    expect((await post({ id: 'patient', count: 1 })).status).toBe(400);
    await over(order.id, '24 hours');
    await world.eventually(async () => (await standingOf(order.id)) === 'late');
    expect((await stateOf(order.id))?.state).toBe('waiting-confirmation');
    // another buyer gets the item, and pays in the same block
    const next = await ordered({ id: 'patient', count: 1 });
    await world.chain.pay(next.script, next.charge.amount);
    await world.deliver(next.id);
    await world.until(order.id, 'refunded');
    expect((await stateOf(order.id))?.error).toContain('more than 24 hours');
    await requireExactCounts(world.database.pool, 'patient');
    expect((await world.audit()).differences).toEqual([]);
  });

  test('is created for ten of fifty concurrent buyers of the last ten items, and no one pays in vain', async () => {
    await approved({ id: 'rush', items: 10 });
    const sold: number[] = [];
    let late: (Created & { script: Buffer }) | null = null;
    while (sold.length < 10) {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => post<Created & Refusal>({ id: 'rush', count: 1 })),
      );
      const others = answers.filter(({ status }) => status !== 200).map(({ body }) => body.error[0]!.msg);
      for (const why of others) expect(why).toMatch(/half of the items that are left|sold out/u);
      const made = answers.flatMap(({ status, body }) => (status === 200 ? [body] : []));
      // half of the remaining items, while nothing is paid
      expect(made).toHaveLength(Math.max(1, Math.floor((10 - sold.length) / 2)));
      const held = await Promise.all(
        made.map(async (body) => ({ ...body, script: (await stateOf(body.id))!.script })),
      );
      if (late === null) {
        late = held.pop()!;
        await over(late.id, '10 minutes');
        await world.until(late.id, 'expired');
      }
      for (const { script, charge } of held) await world.chain.pay(script, charge.amount);
      await world.chain.mineMempool();
      for (const { id, collection } of held) {
        await world.until(id, 'queued');
        sold.push(...collection.items);
      }
    }
    expect(new Set(sold)).toEqual(new Set(Array.from({ length: 10 }, (_, item) => item + 1)));
    expect((await post<Refusal>({ id: 'rush', count: 1 })).status).toBe(400);
    await world.chain.pay(late!.script, late!.charge.amount);
    await world.chain.mineMempool();
    await world.until(late!.id, 'waiting-refund');
    await world.sent(late!.id, ['refund']);
    await world.chain.mineMempool();
    await world.until(late!.id, 'refunded');
    await requireExactCounts(world.database.pool, 'rush');
    expect((await world.audit()).differences).toEqual([]);
  });

  /** Makes a collection whose only phase allows some items for one address. */
  async function approvedFor(id: string, owner: number, allowed: number): Promise<void> {
    await approved({ id, items: 20 });
    const { pool } = world.database;
    await pool.query(`UPDATE service.mint_phases SET is_public = false WHERE collection = $1`, [id]);
    await pool.query(
      `INSERT INTO service.mint_allowances (collection, phase, script, items) VALUES ($1, 'public', $2, $3)`,
      [id, Buffer.from(scriptOf(owner)), allowed],
    );
  }

  test('of one address takes its allowance in the order of blocks, then of txids', async () => {
    await approvedFor('ranked', listed + 1, 3);
    const receiveAddress = addressOf(listed + 1);
    const orders = [];
    for (let nth = 0; nth < 6; nth++)
      orders.push(await ordered({ id: 'ranked', count: 1 }, { receiveAddress }));
    const [second, early, ...together] = orders as [(typeof orders)[0], (typeof orders)[0], ...typeof orders];
    await world.chain.pay(early.script, early.charge.amount);
    await world.chain.mineMempool();
    const paid: { id: string; txid: string }[] = [];
    for (const { id, script, charge } of together)
      paid.push({ id, txid: (await world.chain.pay(script, charge.amount)).payment.txid });
    await world.chain.mineMempool();
    await world.chain.pay(second.script, second.charge.amount);
    await world.chain.mineMempool();
    const ranked = paid.toSorted((a, b) => (a.txid < b.txid ? -1 : 1)).map(({ id }) => id);
    // orders that wait for a decision are processed again after it
    for (const id of [early.id, ...ranked.slice(0, 2)]) await world.until(id, 'queued');
    const refused = [...ranked.slice(2), second.id];
    expect(refused).toHaveLength(3);
    for (const id of refused) await world.until(id, 'waiting-refund');
    await Promise.all([early.id, ...ranked.slice(0, 2)].map((id) => world.sent(id)));
    await Promise.all(refused.map((id) => world.sent(id, ['refund'])));
    await world.chain.mineMempool();
    for (const id of refused) {
      await world.until(id, 'refunded');
      // the refund has everything except its fee
      expect(Object.keys(await balances(id)).toSorted()).toEqual(['fee', 'outside']);
    }
    await requireExactCounts(world.database.pool, 'ranked');
    expect((await world.audit()).differences).toEqual([]);
  });

  test('gives the allowance back if a reorganisation removes its payment, and the chain decides again', async () => {
    await approvedFor('undone', listed + 2, 2);
    const receiveAddress = addressOf(listed + 2);
    const first = await ordered({ id: 'undone', count: 2 }, { receiveAddress });
    const { coin } = await world.chain.pay(first.script, first.charge.amount);
    await world.chain.mineMempool();
    await world.until(first.id, 'queued');
    await world.sent(first.id);
    expect((await post({ id: 'undone', count: 1 }, { receiveAddress })).status).toBe(400);
    await world.chain.takeBack(1);
    await world.chain.mine([transaction([coin], [{ value: coin.value - 5_000, to: coin.owner }])]);
    await world.chain.mineEmpty(1);
    await world.until(first.id, 'waiting-payment');
    expect(await standingOf(first.id)).toBe('unpaid');
    await requireExactCounts(world.database.pool, 'undone');
    const second = await ordered({ id: 'undone', count: 1 }, { receiveAddress });
    expect(second.collection.items).not.toEqual(expect.arrayContaining([...first.collection.items]));
    await world.chain.pay(second.script, second.charge.amount);
    await world.chain.mineMempool();
    await world.until(second.id, 'queued');
    await world.chain.pay(first.script, first.charge.amount);
    await world.chain.mineMempool();
    await world.until(first.id, 'waiting-refund');
    expect([await standingOf(first.id), await standingOf(second.id)]).toEqual(['refused', 'allowed']);
    await world.sent(first.id, ['refund']);
    await world.sent(second.id);
    await world.chain.mineMempool();
    await world.until(second.id, 'completed');
    await world.until(first.id, 'refunded');
    await requireExactCounts(world.database.pool, 'undone');
    expect((await world.audit()).differences).toEqual([]);
  });

  test('has its items for good again once the branch with its delivery is back', async () => {
    await approvedFor('returned', listed + 3, 1);
    const order = await ordered({ id: 'returned', count: 1 }, { receiveAddress: addressOf(listed + 3) });
    const { coin } = await world.chain.pay(order.script, order.charge.amount);
    await world.deliver(order.id);
    const branch = await world.chain.takeBack(2);
    await world.chain.mine([transaction([coin], [{ value: coin.value - 5_000, to: coin.owner }])]);
    await world.eventually(async () => (await standingOf(order.id)) === 'unpaid');
    await world.chain.reconsider(branch);
    await world.until(order.id, 'completed');
    expect(await standingOf(order.id)).toBe('allowed');
    await requireExactCounts(world.database.pool, 'returned');
    expect((await world.audit()).differences).toEqual([]);
  });

  test('frees its items at once if its customer cancels it', async () => {
    await approved({ id: 'regretted', items: 1 });
    const { id } = await ordered({ id: 'regretted', count: 1 });
    expect(await world.customerOrders.cancel(id)).toBe(true);
    await world.until(id, 'cancelled');
    await world.eventually(async () => (await standingOf(id)) === 'released');
    expect((await ordered({ id: 'regretted', count: 1 })).collection.items).toEqual([1]);
    await requireExactCounts(world.database.pool, 'regretted');
  });

  test('takes the allowance of its address when it is paid, in the order of the chain', async () => {
    const address = addressOf(listed);
    await approved({ id: 'friends', items: 20 });
    const { pool } = world.database;
    await pool.query(`UPDATE service.mint_phases SET is_public = false WHERE collection = 'friends'`);
    await pool.query(
      `INSERT INTO service.mint_allowances (collection, phase, script, items) VALUES ('friends', 'public', $1, 2)`,
      [Buffer.from(scriptOf(listed))],
    );
    const stranger = await post<Refusal>({ id: 'friends', count: 1 });
    expect([stranger.status, stranger.body.error[0]!.msg]).toEqual([
      400,
      expect.stringContaining('its list'),
    ]);
    const orders = [
      await ordered({ id: 'friends', count: 2 }, { receiveAddress: address }),
      await ordered({ id: 'friends', count: 2 }, { receiveAddress: address }),
    ] as const;
    // the second order is paid in an earlier block
    await world.chain.pay(orders[1].script, orders[1].charge.amount);
    await world.chain.mineMempool();
    await world.chain.pay(orders[0].script, orders[0].charge.amount);
    await world.chain.mineMempool();
    await world.until(orders[1].id, 'queued');
    await world.until(orders[0].id, 'waiting-refund');
    expect((await stateOf(orders[0].id))?.error).toContain('fewer items than the order has');
    await requireExactCounts(pool, 'friends');
    await world.sent(orders[1].id);
    await world.chain.mineMempool();
    await world.until(orders[1].id, 'completed');
    expect(await world.audit()).toMatchObject({ differences: [], collections: [] });
  });

  test('is refused with the fault before anything is held', async () => {
    await approved({ id: 'picky', items: 4 });
    const refusal = async (collection: unknown, more: object = {}) => {
      const { status, body } = await post<Refusal>(collection as object, more);
      return [status, body.error.map(({ msg }) => msg).join(' ')] as const;
    };
    expect(await refusal({ id: 'nowhere', count: 1 })).toEqual([404, 'no such collection nowhere']);
    expect((await refusal({ id: 'picky', count: 0 }))[0]).toBe(400);
    expect((await refusal({ id: 'picky', count: 5 }))[1]).toContain('The collection has only 4 free items.');
    expect((await refusal({ id: 'picky', count: 3, requestedIds: [1] }))[1]).toContain(
      'send only one of these fields',
    );
    expect((await refusal({ id: 'picky', requestedIds: [1, 1] }))[1]).toContain('twice');
    expect(await refusal({ id: 'picky', requestedIds: [9] })).toEqual([
      400,
      expect.stringContaining('no item 9. Its items are 1 to 4.') as unknown,
    ]);
    expect((await refusal(undefined))[1]).toContain('collection');
    expect((await refusal({ id: 'picky', count: 1 }, { receiveAddress: 'bc1q' }))[0]).toBe(400);
    expect((await refusal({ id: 'picky', count: 1 }, { files: [{ name: 'a.txt' }] }))[1]).toContain('files');
    const payload = { collection: { id: 'picky', count: 1 }, receiveAddress: addressOf(receiver), fee: 2 };
    const keyless = await app.inject({ method: 'POST', url: '/collectionorder', payload });
    expect(keyless.statusCode).toBe(401);
    expect(keyless.body).toContain('send a valid key with the scope orders');
    await requireExactCounts(world.database.pool, 'picky');
    expect((await ordered({ id: 'picky', count: 1 })).collection.items).toHaveLength(1);
  });

  describe('is audited, which', () => {
    beforeAll(async () => {
      await approved({ id: 'audited', items: 6, price: 5_000, creatorAddress });
      const { pool } = world.database;
      await pool.query(`UPDATE service.mint_phases SET is_public = false WHERE collection = 'audited'`);
      await pool.query(
        `INSERT INTO service.mint_allowances (collection, phase, script, items) VALUES ('audited', 'public', $1, 2)`,
        [Buffer.from(scriptOf(listed))],
      );
      const order = await ordered(
        { id: 'audited', requestedIds: [5, 2] },
        { receiveAddress: addressOf(listed) },
      );
      await world.chain.pay(order.script, order.charge.amount);
      await world.deliver(order.id);
      await world.eventually(async () => (await world.audit(1)).differing === 0);
    });

    /** Faults of the database. Each has the SQL that undoes the fault, and the difference that the audit finds. */
    const broken: readonly (readonly [sql: string, back: string, found: readonly string[]])[] = [
      ['mint_collections SET taken = taken + 1', 'mint_collections SET taken = taken - 1', ['taken 3 2']],
      ['mint_collections SET unpaid = 1', 'mint_collections SET unpaid = 0', ['unpaid 1 0']],
      ['mint_phases SET taken = taken - 1', 'mint_phases SET taken = taken + 1', ['phase 1 2']],
      [`mint_orders SET numbers = '{5,3}'`, `mint_orders SET numbers = '{5,2}'`, ['items 2 1']],
      [
        `mint_items SET order_id = NULL, order_place = NULL`,
        `mint_items AS i SET order_id = o.order_id, order_place = array_position(o.numbers, i.item) - 1
         FROM service.mint_orders AS o WHERE i.item = ANY(o.numbers) AND o.collection = i.collection AND i`,
        ['items 2 0', 'taken 2 0'],
      ],
      [
        `mint_orders SET standing = 'released'`,
        `mint_orders SET standing = 'allowed'`,
        ['items 0 2', 'phase 2 0', 'standing 2 0'],
      ],
      ['mint_orders SET price = 4000', 'mint_orders SET price = 5000', ['earned 8000 10000']],
      ['mint_orders SET price = 6000', 'mint_orders SET price = 5000', ['earned 12000 10000']],
      ['mint_allowances SET items = 1', 'mint_allowances SET items = 2', ['allowance 1 2']],
    ];
    const changing = (sql: string): Promise<unknown> => {
      const last = sql.endsWith(' AND i') ? `${sql}.collection` : `${sql} WHERE collection`;
      const named = sql.startsWith('mint_collections') ? `${sql} WHERE id` : last;
      return world.database.pool.query(`UPDATE service.${named} = 'audited'`);
    };

    test.for(broken)('finds %s', async ([sql, back, found]) => {
      const audited = async () =>
        (await auditCollections({ database: world.database.pool, looks: 1 })).map(
          ({ kind, noted, found: rows, ...of }) => `${of.collection} ${kind} ${noted} ${rows}`,
        );
      await changing(sql);
      try {
        expect((await audited()).toSorted()).toEqual(found.map((words) => `audited ${words}`));
      } finally {
        await changing(back);
      }
      expect(await audited()).toEqual([]);
    });

    test('fails the audit, which says what to do, but not because of a lowered list', async () => {
      const { rpcUrl, cookieFile } = world.bitcoind;
      const words = ['audit', '--node', rpcUrl, '--cookie-file', cookieFile];
      await changing('mint_collections SET taken = taken + 1');
      const failed = await runCli(words, world.database.settings);
      await changing('mint_collections SET taken = taken - 1');
      expect(failed).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('audit_differs') as string,
      });
      expect(failed.stdout).toMatch(
        /^collection audited\n {2}taken: noted 3, found 2 .*\n {4}what to do: close the sale/mu,
      );
      await changing('mint_allowances SET items = 1');
      const told = await runCli([...words, '--json'], world.database.settings);
      await changing('mint_allowances SET items = 2');
      expect(told.exitCode).toBe(0);
      expect(JSON.parse(told.stdout)).toMatchObject({
        collections: [{ collection: 'audited', kind: 'allowance', noted: 1, found: 2 }],
      });
    });
  });
});
