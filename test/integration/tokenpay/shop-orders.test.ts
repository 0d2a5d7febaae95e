import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asU128 } from '#kernel/runes/u128.ts';
import { transaction } from '#test/builders/regtest/regtest-transaction.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { customerAddress, signerBody } from '#test/support/psbts/customer-address.ts';
import { signingLibraries } from '#test/support/psbts/sign-psbt.ts';
import { changesOf, heldBy } from '#test/support/tokenpay/account-changes.ts';
import { testRuneBurns } from '#test/support/tokenpay/shop-burns.ts';
import { testCheckout } from '#test/support/tokenpay/shop-checkout.ts';
import { testShopClients } from '#test/support/tokenpay/shop-clients.ts';
import { testShopPayments } from '#test/support/tokenpay/shop-payments.ts';
import { testRebuiltIndex } from '#test/support/tokenpay/shop-rebuilds.ts';
import { testShopReorganisations } from '#test/support/tokenpay/shop-reorganisations.ts';
import { testShopSecrets } from '#test/support/tokenpay/shop-secrets.ts';
import { testTestPayments } from '#test/support/tokenpay/shop-test-payments.ts';
import { type EtchedRune, type ShopOrder, ShopWorld } from '#test/support/tokenpay/shop-world.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';

interface PaymentPsbt {
  readonly psbt: string;
  readonly psbtBase64: string;
  readonly runeInputs: { readonly indices: number[]; readonly address: string };
  readonly paymentInputs: { readonly indices: number[]; readonly address: string };
}

const isCompleted = ({ state }: ShopOrder): boolean => state === 'completed';

describe.skipIf(bitcoindForTests() === null)('an order of a shop', () => {
  let shop: ShopWorld;
  testShopClients(() => shop);
  testCheckout(() => shop);
  testTestPayments(() => shop);
  testRuneBurns(() => shop);
  testShopSecrets(() => shop);
  testShopPayments(() => shop);
  let rune: EtchedRune;
  let other: EtchedRune;
  beforeAll(async () => {
    shop = await ShopWorld.start();
    rune = await shop.etch(10n ** 30n, 8);
    other = await shop.etch(1_000_000n, 0);
  }, 180_000);
  afterAll(() => shop?.close());

  async function ordered(amount: number | string = 2.5, more: object = {}): Promise<ShopOrder> {
    const { status, body } = await shop.post({ token: rune.name, amount, additionalFee: 1_000, ...more });
    expect([status, body]).toEqual([200, expect.objectContaining({ state: 'pending' })]);
    return body;
  }

  const base = (units: number): bigint => BigInt(Math.round(units * 1e8));

  async function outputs(order: ShopOrder) {
    return {
      fee: await shop.scriptOf(order.feeCharge.address),
      token: await shop.scriptOf(order.tokenCharge.address),
    };
  }

  const held = () => heldBy(shop);
  const changes = (work: () => Promise<void>) => changesOf(shop, work);

  test('is completed by its token and its fee, and its shop is notified of each step', async () => {
    const order = await ordered(2.5, {
      webhookUrl: 'https://shop.example/hook?token=1',
      description: 'socks',
    });
    expect(order).toMatchObject({
      accountId: shop.account,
      feeCharge: {
        amount: 10_000,
        token: 'BTC',
        protocol: 'bitcoin',
        state: 'pending_payment',
        additionalFee: 1_000,
      },
      tokenCharge: { amount: 2.5, amountBase: '250000000', token: rune.name, protocol: 'rune', txid: null },
      description: 'socks',
      webhookUrl: 'https://shop.example/hook?token=1',
      successUrl: null,
    });
    expect(order.webhookSecretToken).toMatch(/^[0-9a-f]{64}$/u);
    const { fee, token } = await outputs(order);
    const gained = await changes(async () => {
      const paid = await shop.send([{ value: 546, outputScript: token, units: [[rune, base(2.5)]] }]);
      const seen = await shop.until(order.id, ({ tokenCharge }) => tokenCharge.state === 'payment_seen');
      expect([seen.state, seen.tokenCharge.txid, seen.webhookSecretToken]).toEqual([
        'pending',
        paid.txid,
        undefined,
      ]);
      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ tokenCharge }) => tokenCharge.state === 'completed');
      await shop.send([{ value: 10_000, outputScript: fee }]);
      await shop.until(order.id, ({ feeCharge }) => feeCharge.state === 'payment_seen');
      await shop.world.chain.mineMempool();
      await shop.until(order.id, isCompleted);
    });
    expect(gained).toEqual({ BTC: 1_546n, [rune.name]: base(2.5) });
    const { rows: told } = await shop.world.database.pool.query<{ body: Buffer }>(
      `SELECT body FROM service.webhooks WHERE subject = $1 ORDER BY sequence`,
      [`token ${order.id}`],
    );
    const bodies = told.map(({ body }) => JSON.parse(body.toString()) as ShopOrder);
    expect(
      bodies.map(({ state, tokenCharge, feeCharge }) => [state, tokenCharge.state, feeCharge.state]),
    ).toEqual([
      ['pending', 'payment_seen', 'pending_payment'],
      ['pending', 'completed', 'pending_payment'],
      ['pending', 'completed', 'payment_seen'],
      ['completed', 'completed', 'completed'],
    ]);
    // the secret is in no table
    expect(told.some(({ body }) => body.includes(order.webhookSecretToken!))).toBe(false);
    const { received, ...answered } = await shop.read(order.id);
    expect(received.map(({ charge, sats, tokens }) => [charge, sats, tokens.length])).toEqual([
      ['token', 546, 1],
      ['fee', 10_000, 0],
    ]);
    expect(answered.webhookSecretToken).toBeUndefined();
  });

  test.each([
    ['token and fee in one transaction', [[2.5, true]]],
    [
      'in three parts',
      [
        [1, false],
        [1, false],
        [0.5, true],
      ],
    ],
    ['with one unit too much', [[2.500_000_01, true]]],
  ] as const)('is completed %s', async (_name, parts) => {
    const order = await ordered();
    const { fee, token } = await outputs(order);
    const sent = parts.reduce((sum, [units]) => sum + base(units), 0n);
    const gained = await changes(async () => {
      for (const [units, hasFee] of parts) {
        await shop.send([
          { value: 1_000, outputScript: token, units: [[rune, base(units)]] },
          ...(hasFee ? [{ value: 10_000, outputScript: fee }] : []),
        ]);
        await shop.world.chain.mineMempool();
      }
      await shop.until(order.id, isCompleted);
    });
    expect(gained).toEqual({ BTC: 1_000n + 1_000n * BigInt(parts.length), [rune.name]: sent });
  });

  test('is not completed by payments that do not fit; its account gets them', async () => {
    const order = await ordered();
    const { fee, token } = await outputs(order);
    const gained = await changes(async () => {
      await shop.send([
        // one unit less than the order needs, beside another rune
        {
          value: 700,
          outputScript: token,
          units: [
            [rune, base(2.5) - 1n],
            [other, 5n],
          ],
        },
        // bitcoin paid to the token address
        { value: 20_000, outputScript: token },
        // the right rune paid to the fee address
        { value: 600, outputScript: fee, units: [[rune, base(2.5)]] },
      ]);
      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ received }) => received.length === 3);
    });
    const { state, feeCharge, tokenCharge } = await shop.read(order.id);
    expect([state, feeCharge.state, tokenCharge.state]).toEqual(['pending', 'payment_seen', 'payment_seen']);
    // the service has not yet decided about 600 sats of the fee
    expect(gained).toEqual({ BTC: 20_700n, [rune.name]: base(5) - 1n, [other.name]: 5n });
    expect(JSON.parse(await shop.balance())).toMatchObject({ rune: { [other.name]: 5 } });
    // the last unit and the rest of the fee
    const last = await changes(async () => {
      await shop.send([
        { value: 546, outputScript: token, units: [[rune, 1n]] },
        { value: 9_400, outputScript: fee },
      ]);
      await shop.world.chain.mineMempool();
      await shop.until(order.id, isCompleted);
    });
    expect(last).toEqual({ BTC: 546n + 1_000n, [rune.name]: 1n });
    // later payments also belong to the account
    const late = await changes(async () => {
      await shop.send([
        { value: 3_000, outputScript: fee },
        { value: 546, outputScript: token, units: [[rune, 7n]] },
      ]);
      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ received }) => received.length === 7);
    });
    expect(late).toEqual({ BTC: 3_546n, [rune.name]: 7n });
  });

  test('ends in error once its time is over, and late payments are credited', async () => {
    const order = await ordered();
    const { fee, token } = await outputs(order);
    const gained = await changes(async () => {
      await shop.send([{ value: 10_000, outputScript: fee }]);
      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ feeCharge }) => feeCharge.state === 'completed');
    });
    // the base fee is held until the order ends
    expect(gained).toEqual({ BTC: 1_000n });
    const { pool } = shop.world.database;
    const ended = await changes(async () => {
      await pool.query(
        `UPDATE service.token_orders SET created_at = $2::timestamptz - interval '1 hour', expires_at = $2, ends_at = $2, look_at = $2
          WHERE id = $1`,
        [order.id, new Date(Date.now() - 1_000)],
      );
      await shop.until(order.id, ({ state }) => state === 'error');
    });
    expect(ended).toEqual({ BTC: 9_000n });
    expect((await shop.read(order.id)).tokenCharge.state).toBe('expired');
    const late = await changes(async () => {
      await shop.send([{ value: 546, outputScript: token, units: [[rune, base(2.5)]] }]);
      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ received }) => received.length === 2);
    });
    expect(late).toEqual({ BTC: 546n, [rune.name]: base(2.5) });
    expect((await shop.read(order.id)).state).toBe('error');
  });

  test('sets an output with an inscription aside, and credits nothing of it', async () => {
    const order = await ordered();
    const { token } = await outputs(order);
    const gained = await changes(async () => {
      const made = await shop.world.chain.inscribe(
        { contentType: 'text/plain', body: 'in a payment' },
        { payments: [{ value: 5_000, outputScript: token }] },
      );
      await shop.world.chain.mine(made.transactions);
      await shop.until(order.id, ({ received }) => received.length === 1);
    });
    expect(gained).toEqual({});
    const { received, tokenCharge } = await shop.read(order.id);
    expect([received[0]!.isAside, tokenCharge.state]).toEqual([true, 'pending_payment']);
    const { rows } = await shop.world.database.pool.query<{ held: string; aside: string }>(
      `SELECT held, aside FROM service.wallet_coins WHERE kind = 'token-order' AND subject = $1`,
      [order.id],
    );
    expect(rows).toEqual([{ held: 'accounts', aside: 'inscribed' }]);
    expect(await auditTokens({ database: shop.world.database.pool })).toEqual([]);
  });

  test('gets none of the runes that a cenotaph burned, but the sats of its output', async () => {
    const order = await ordered();
    const { token } = await outputs(order);
    const gained = await changes(async () => {
      // an edict to an output that does not exist
      const output = 99;
      const edicts = [{ id: { block: asU128(rune.id.block), tx: rune.id.tx }, amount: asU128(1), output }];
      await shop.burn([{ value: 900, outputScript: token }], {
        kind: 'runestone',
        edicts,
        etching: null,
        mint: null,
        pointer: 1,
      });
      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ received }) => received.length === 1);
    });
    expect(gained).toEqual({ BTC: 900n });
    expect((await shop.read(order.id)).tokenCharge.state).toBe('pending_payment');
    rune = await shop.etch(10n ** 30n, 8);
    other = await shop.etch(1_000_000n, 0);
  });

  test('follows a payment that is replaced, and is completed by the one that is mined', async () => {
    const order = await ordered();
    const { fee } = await outputs(order);
    const coin = await shop.world.chain.coin();
    const paying = (value: number, minersFee: number) =>
      transaction([coin], [{ value, outputScript: fee }, { value: coin.value - value - minersFee }]);
    const first = paying(10_000, 1_000);
    const second = paying(9_000, 20_000);
    const gained = await changes(async () => {
      await shop.world.chain.broadcast(first);
      await shop.until(order.id, ({ feeCharge }) => feeCharge.txid === first.txid);
      await shop.world.chain.broadcast(second);
      await shop.until(order.id, ({ feeCharge }) => feeCharge.txid === second.txid);
      await shop.world.chain.mineMempool();
      await shop.until(order.id, ({ received }) => received.length === 1);
    });
    // the second payment pays only the base fee, which is held until the order ends
    expect(gained).toEqual({});
    expect((await shop.read(order.id)).feeCharge.state).toBe('payment_seen');
  });

  test.each(signingLibraries.map((library, place) => ({ ...library, place })))(
    'is paid from a wallet with $name, and everything else returns',
    async ({ sign, finalize, place }) => {
      const type = place === 0 ? 'p2wpkh' : 'p2tr';
      const owner = type === 'p2tr' ? 71_000 : 72_000;
      const payment = customerAddress(owner, type);
      const ordinals = customerAddress(owner + 1);
      const order = await ordered();
      const build = async (body: object) => {
        const answer = await shop.app.inject({
          method: 'POST',
          url: '/tokenpay/create-payment-psbt',
          headers: { 'content-type': 'application/json' },
          payload: JSON.stringify({ ...signerBody(payment, ordinals), orderId: order.id, ...body }),
        });
        return { status: answer.statusCode, body: answer.json<PaymentPsbt>() };
      };
      expect(await build({})).toMatchObject({
        status: 400,
        body: { success: false, message: expect.stringContaining(`has only 0 ${rune.name}`) as string },
      });
      await shop.send([
        {
          value: 700,
          to: ordinals.owner,
          units: [
            [rune, base(2)],
            [other, 9n],
          ],
        },
        { value: 800, to: ordinals.owner, units: [[rune, base(1)]] },
        { value: 60_000, to: payment.owner, type },
      ]);
      await shop.world.chain.mineMempool();
      await shop.world.indexed();
      const { status, body } = await build({ feeRate: 0.0001 });
      expect([status, body.psbt, body.runeInputs, body.paymentInputs]).toEqual([
        200,
        body.psbtBase64,
        { indices: [0, 1], address: ordinals.address },
        { indices: [2], address: payment.address },
      ]);
      const signed = sign(body.psbtBase64, [
        { by: ordinals, indices: body.runeInputs.indices },
        { by: payment, indices: body.paymentInputs.indices },
      ]);
      const gained = await changes(async () => {
        const sent = await shop.app.inject({
          method: 'POST',
          url: '/tokenpay/utils/submittx',
          payload: { hex: finalize(signed) },
        });
        expect([sent.statusCode, sent.json()]).toEqual([200, { txid: expect.any(String) as string }]);
        await shop.until(order.id, ({ tokenCharge }) => tokenCharge.state === 'payment_seen');
        // seen payments are not asked for again
        expect((await build({})).body).toMatchObject({
          message: expect.stringContaining('already seen') as string,
        });
        await shop.world.chain.mineMempool();
        await shop.until(order.id, isCompleted);
      });
      expect(gained).toEqual({ BTC: 1_330n, [rune.name]: base(2.5) });
      expect((await build({})).body).toMatchObject({
        message: expect.stringContaining('completed') as string,
      });
      const { rows } = await shop.world.database.pool.query<{ rune_key: number; amount: string }>(
        `SELECT rune_key, amount::text FROM chain.rune_balances WHERE script = $1 AND spent_height IS NULL ORDER BY rune_key`,
        [Buffer.from(ordinals.script)],
      );
      // all units are in the one output at the ordinals address, which has 1,500 sats
      expect(rows.map(({ amount }) => amount)).toEqual([String(base(0.5)), '9']);
    },
  );

  test('is proven by an audit, which names the faults', async () => {
    const { pool } = shop.world.database;
    const order = await ordered();
    const { token } = await outputs(order);
    await shop.send([{ value: 546, outputScript: token, units: [[rune, 5n]] }]);
    await shop.world.chain.mineMempool();
    await shop.until(order.id, ({ received }) => received.length === 1);
    await shop.world.indexed();
    expect(await auditTokens({ database: pool })).toEqual([]);
    const found = async (sql: string, values: unknown[] = []) => {
      await pool.query(sql, values);
      return (await auditTokens({ database: pool, looks: 1 })).map(({ kind, noted, found: is }) => [
        kind,
        noted - is,
      ]);
    };
    const asset = `(SELECT asset FROM service.token_runes WHERE name = '${rune.name}')`;
    const add = 'UPDATE service.token_balances SET amount = amount + $1 WHERE asset = ' + asset;
    // the balance differs from the sum of the entries, and the ledger has more than the chain
    expect(await found(add, [3])).toEqual([
      ['balance', 3n],
      ['supply', 3n],
    ]);
    expect(await found(add, [-3])).toEqual([]);
    const change = `UPDATE service.token_credits SET sats = sats + $1 WHERE (txid, vout) = (SELECT txid, vout
      FROM service.token_credits WHERE aside IS NULL ORDER BY txid, vout LIMIT 1)`;
    expect(await found(change, [1])).toEqual([['entries', -1n]]);
    expect(await found(change, [-1])).toEqual([]);
    const move = change.replace('sats = sats', 'height = height');
    expect(await found(move, [1])).toEqual([['credit', 1n]]);
    expect(await found(move, [-1])).toEqual([]);
  });

  test('is pending again after a reorganisation, and completed with its new block', async () => {
    const order = await ordered();
    const { fee, token } = await outputs(order);
    const before = await held();
    const pay = async (): Promise<void> => {
      await shop.send([
        { value: 546, outputScript: token, units: [[rune, base(2.5)]] },
        { value: 10_000, outputScript: fee },
      ]);
      await shop.world.chain.mineMempool();
    };
    await pay();
    await shop.until(order.id, isCompleted);
    const after = await held();
    await shop.world.chain.takeBack(1);
    // an empty block on another branch, and one more, so that the node has more work on this branch
    await shop.world.chain.mineEmpty(2);
    await shop.until(order.id, ({ state, received }) => state === 'pending' && received.length === 0);
    // tests run in any order, so the account may not have had either token before
    expect(await held()).toEqual(new Map([['BTC', 0n], [rune.name, 0n], ...before]));
    await shop.world.chain.mineMempool();
    await shop.until(order.id, isCompleted);
    expect(await held()).toEqual(after);
  });

  testShopReorganisations(() => shop);
  // the last test, because it deletes the index
  testRebuiltIndex(() => shop);
});
