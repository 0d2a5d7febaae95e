import { beforeAll, describe, expect, test } from 'vitest';
import { giveKey } from '#test/support/http/search-access.ts';
import { customerAddress, signerBody } from '#test/support/psbts/customer-address.ts';
import { type EtchedRune, type ShopOrder, type ShopWorld, testSatsADay } from './shop-world.ts';

interface Paid {
  readonly status: number;
  readonly body: {
    readonly txids: readonly string[];
    readonly sats: number;
    readonly satsLeft: number;
    readonly wallet: string;
    readonly error?: string | readonly { readonly msg: string }[];
  };
}

/** Tests each kind of test payment: it is sent to a node and mined. */
export function testTestPayments(started: () => ShopWorld): void {
  describe('test payments', () => {
    let shop: ShopWorld;
    let rune: EtchedRune;
    let other: EtchedRune;
    let order: ShopOrder;

    const pay = async (name: string, { id = order.id, key = shop.key } = {}): Promise<Paid> => {
      const answer = await shop.app.inject({
        method: 'POST',
        url: '/tokenpay/test/pay',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        payload: JSON.stringify({ orderId: id, case: name }),
      });
      return { status: answer.statusCode, body: answer.json() };
    };

    const ordered = async (key = shop.key): Promise<ShopOrder> => {
      const wanted = { token: rune.name, amount: 9, additionalFee: 1_000 };
      return (await shop.post(wanted, { 'x-api-key': key })).body;
    };

    /** Makes a test payment for a new order, and mines a block. Waits first until the index has all earlier blocks. */
    const paid = async (name: string): Promise<void> => {
      const { status, body } = await pay(name);
      expect([name, status, body]).toEqual([name, 200, expect.objectContaining({ case: name })]);
      await shop.world.chain.mineMempool();
    };

    const refused = async (name: string, more: { key?: string } = {}): Promise<string> => {
      const { status, body } = await pay(name, more);
      expect([status, body.txids]).toEqual([400, undefined]);
      return (body.error as readonly { readonly msg: string }[])[0]!.msg;
    };

    /**
     * The outputs that arrived, sorted. Each has its charge, the units of the order's rune, and the number of other
     * runes.
     */
    const came = ({ received }: ShopOrder) =>
      received
        .map(({ charge, tokens }) => [
          charge,
          tokens.find(({ token }) => token === rune.name)?.amountBase ?? '0',
          tokens.filter(({ token }) => token !== rune.name).length,
        ])
        .toSorted((a, b) => (a.join(' ') < b.join(' ') ? -1 : 1));

    beforeAll(async () => {
      shop = started();
      rune = await shop.etch(1_000n, 0);
      other = await shop.etch(1_000n, 0);
      order = await ordered();
      // the message names the address and the amount to send
      const [, address] = /Send runes to (\S+), and wait/u.exec(await refused('exact'))!;
      expect(await refused('fee')).toContain(`Send sats to ${address}.`);
      const outputScript = await shop.scriptOf(address!);
      await shop.send([
        {
          value: 5_000,
          outputScript,
          units: [
            [rune, 300n],
            [other, 5n],
          ],
        },
        { value: 2_000_000, outputScript },
      ]);
      await shop.world.chain.mineMempool();
      await shop.world.indexed();
    });

    test('neither a test payment nor a PSBT pays with a rune that took the name of the one of the order', async () => {
      const { pool } = shop.world.database;
      const { id } = await ordered();
      // as after a reorganisation: another transaction had etched the rune of this name that the order requests
      await pool.query(
        `WITH gone AS (
           INSERT INTO service.assets (etching, rune)
           SELECT $2, a.rune FROM service.assets AS a JOIN service.token_orders AS o ON o.asset = a.id WHERE o.id = $1
           RETURNING id)
         INSERT INTO service.token_runes (asset, name, divisibility) SELECT id, $3, 0 FROM gone`,
        [id, Buffer.alloc(32, 0x77), rune.name],
      );
      await pool.query(
        `UPDATE service.token_orders SET asset = (SELECT max(asset) FROM service.token_runes WHERE name = $2) WHERE id = $1`,
        [id, rune.name],
      );
      const told = 'another transaction etched the rune of this order again. Ask the shop for a new order';
      const { status, body } = await pay('exact', { id });
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(told)]);
      const checkout = await shop.app.inject({ url: `/tokenpay/checkout/${id}` });
      expect([checkout.statusCode, checkout.body]).toEqual([
        200,
        expect.stringContaining('The rune of this order was etched again') as string,
      ]);
      expect(checkout.body).not.toContain('Open in a wallet');
      const owner = customerAddress(74_000);
      const built = await shop.app.inject({
        method: 'POST',
        url: '/tokenpay/create-payment-psbt',
        payload: { orderId: id, ...signerBody(owner, owner) },
      });
      expect([built.statusCode, built.body]).toEqual([400, expect.stringContaining(told)]);
    });

    test.each([
      [
        'exact',
        'completed',
        [
          ['fee', '0', 0],
          ['token', '9', 0],
        ],
      ],
      ['token', 'pending', [['token', '9', 0]]],
      ['fee', 'pending', [['fee', '0', 0]]],
      [
        'parts',
        'completed',
        [
          ['fee', '0', 0],
          ['token', '3', 0],
          ['token', '3', 0],
          ['token', '3', 0],
        ],
      ],
      [
        'partial',
        'pending',
        [
          ['fee', '0', 0],
          ['token', '4', 0],
        ],
      ],
      [
        'over',
        'completed',
        [
          ['fee', '0', 0],
          ['token', '10', 0],
        ],
      ],
      ['wrong-rune', 'pending', [['token', '0', 1]]],
      [
        'several-runes',
        'completed',
        [
          ['fee', '0', 0],
          ['token', '9', 1],
        ],
      ],
      ['cenotaph', 'pending', [['token', '0', 0]]],
      ['mint-over-cap', 'pending', [['token', '0', 0]]],
      ['btc-at-token', 'pending', [['token', '0', 0]]],
      ['rune-at-fee', 'pending', [['fee', '9', 0]]],
    ])('%s: the order is %s', async (name, state, outputs) => {
      order = await ordered();
      await paid(name);
      const after = await shop.until(order.id, ({ received }) => received.length === outputs.length);
      expect([after.state, came(after)]).toEqual([state, outputs]);
      if (state === 'completed') expect(await refused('exact')).toContain('is completed');
    });

    test('the missing part after a first part completes the order, and it is paid again', async () => {
      order = await ordered();
      await paid('partial');
      await shop.until(order.id, ({ received }) => received.length === 2);
      await paid('exact');
      await shop.until(order.id, ({ state }) => state === 'completed');
      await paid('completed');
      const after = await shop.until(order.id, ({ received }) => received.length === 5);
      expect([after.state, came(after)]).toEqual([
        'completed',
        [
          ['fee', '0', 0],
          ['fee', '0', 0],
          ['token', '4', 0],
          ['token', '5', 0],
          ['token', '9', 0],
        ],
      ]);
    });

    test('outputs that are set aside count as nothing, in the order and in the wallet', async () => {
      order = await ordered();
      const { chain } = shop.world;
      const { body: told } = await pay('fee');
      await chain.mineMempool();
      // Outputs that others inscribed: one is in the order, one is in the wallet for tests, where it would be the
      // largest.
      const inscribed = await chain.inscribe(
        { contentType: 'text/plain', body: 'in a payment' },
        {
          payments: [{ value: 5_000, outputScript: await shop.scriptOf(order.tokenCharge.address) }],
        },
      );
      const second = await chain.inscribe(
        { contentType: 'text/plain', body: 'in the wallet' },
        { payments: [{ value: 4_000_000, outputScript: await shop.scriptOf(told.wallet) }] },
      );
      await chain.mine([...inscribed.transactions, ...second.transactions]);
      await shop.until(order.id, ({ received }) => received.length === 2);
      await paid('exact');
      const after = await shop.until(order.id, ({ state }) => state === 'completed');
      expect(came(after)).toEqual([
        ['fee', '0', 0],
        ['token', '0', 0],
        ['token', '9', 0],
      ]);
      expect(after.received.filter(({ isAside }) => isAside).map(({ sats }) => sats)).toEqual([5_000]);
      expect(await chain.rpc.call('gettxout', [second.reveal.txid, 0])).not.toBeNull();
    });

    test('a payment that is replaced credits nothing', async () => {
      order = await ordered();
      expect(await refused('replaced')).toContain('Make one first');
      const { body } = await pay('exact');
      await shop.until(order.id, ({ tokenCharge }) => tokenCharge.txid === body.txids[0]);
      await paid('replaced');
      const after = await shop.until(order.id, ({ feeCharge }) => feeCharge.state === 'pending_payment');
      expect([after.tokenCharge.state, after.tokenCharge.txid]).toEqual(['pending_payment', null]);
      expect(await refused('replaced')).toContain('Make one first');
    });

    test('an order whose time is over is paid late', async () => {
      order = await ordered();
      expect(await refused('late')).toContain('for orders that are error');
      await shop.world.database.pool.query(
        `UPDATE service.token_orders SET created_at = $2::timestamptz - interval '1 hour', expires_at = $2, ends_at = $2, look_at = $2
          WHERE id = $1`,
        [order.id, new Date(Date.now() - 1_000)],
      );
      await shop.until(order.id, ({ state }) => state === 'error');
      await paid('late');
      const after = await shop.until(order.id, ({ received }) => received.length === 2);
      expect([after.state, after.tokenCharge.state]).toEqual(['error', 'expired']);
    });

    test('keys, cases and the budget of a day decide', async () => {
      const { pool } = shop.world.database;
      const { key, account } = await giveKey(pool, { scopes: ['tokenpay'], rate: '0' });
      const { key: searches } = await giveKey(pool, { scopes: ['search'], rate: '0' });
      order = await ordered(key);
      expect((await pay('exact')).status).toBe(404);
      expect((await pay('exact', { key: searches })).status).toBe(403);
      expect((await pay('exact', { key: '' })).status).toBe(401);
      expect((await pay('exact', { id: 'x' })).status).toBe(404);
      expect(await refused('gift')).toContain('case must be one of exact, token,');
      const { body } = await pay('btc-at-token', { key });
      expect([body.sats > 10_000, body.satsLeft]).toEqual([true, testSatsADay - body.sats]);
      await pool.query('UPDATE service.test_payments SET sats = $1 WHERE account = $2', [
        testSatsADay - 9_999,
        account,
      ]);
      // payments of the day are stored, so they count even after a restart
      const spent = await pay('btc-at-token', { key });
      expect([spent.status, spent.body.error]).toEqual([429, expect.stringContaining('TOKENPAY_TEST_PAY')]);
      // a cheaper payment is still possible, and other accounts have their own budgets
      expect((await pay('token', { key })).status).toBe(200);
      order = await ordered();
      await paid('token');
    });
  });
}
