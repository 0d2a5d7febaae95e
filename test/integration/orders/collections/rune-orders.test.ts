import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readEntries } from '#purse/ledger/ledger.store.ts';
import { balancesOf } from '#purse/ledger/ledger.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { requireExactCounts } from '#test/support/collections/collection-rows.ts';
import { type RuneOrder, RuneSale, refundIndex } from '#test/support/collections/rune-sale.ts';
import { bitcoindForTests } from '#test/support/node/find-bitcoind.ts';
import { callClient } from '#test/support/orders/call-client.ts';
import { changesOf } from '#test/support/tokenpay/account-changes.ts';
import { type EtchedRune, ShopWorld } from '#test/support/tokenpay/shop-world.ts';
import { auditTokens } from '#tokenpay/audit/audit-tokens.ts';
import { putFeePayment } from '#tokenpay/inscribing/inscription-fees.store.ts';

const isPaid = ({ state }: RuneOrder): boolean => state === 'queued' || state === 'completed';

describe.skipIf(bitcoindForTests() === null)('an order of a collection with a price in a rune', () => {
  let shop: ShopWorld;
  let sale: RuneSale;
  let rune: EtchedRune;
  let other: EtchedRune;
  beforeAll(async () => {
    shop = await ShopWorld.start();
    sale = new RuneSale(shop);
    rune = await shop.etch(1_000_000n, 2);
    other = await shop.etch(1_000n, 0);
  }, 180_000);
  afterAll(() => shop?.close());

  const mine = () => shop.world.chain.mineMempool();
  const changes = (work: () => Promise<void>) => changesOf(shop, work);

  async function ledgerOf(id: string): Promise<Record<string, number>> {
    const held = balancesOf(await readEntries(shop.world.database.pool, { kind: 'order', id }));
    return Object.fromEntries(
      [...held].filter(([, sats]) => sats !== 0n).map(([name, sats]) => [name, Number(sats)]),
    );
  }

  async function takenOf(id: string): Promise<{ taken: number; unpaid: number }> {
    const { rows } = await shop.world.database.pool.query<{ taken: number; unpaid: number }>(
      'SELECT taken, unpaid FROM service.mint_collections WHERE id = $1',
      [id],
    );
    return rows[0]!;
  }

  async function expectProven(): Promise<void> {
    await shop.world.eventually(async () => {
      const { differing, funds, payouts, collections } = await shop.world.audit();
      expect({ differing, funds, payouts, collections }).toEqual({
        differing: 0,
        funds: [],
        payouts: [],
        collections: [],
      });
      expect(await auditTokens({ database: shop.world.database.pool })).toEqual([]);
    });
  }

  test.each([
    ['the rune first', ['rune', 'sats']],
    ['the sats first', ['sats', 'rune']],
    ['both in one block', ['both']],
  ] as const)('is delivered: %s', async (name, steps) => {
    const id = `moths-${steps.join('-')}`;
    await sale.approved(id, 4, rune, 250n);
    const order = await sale.ordered({ id, count: 2 });
    const { feeCharge, tokenCharge, refunds } = order.tokenPayCharge;
    expect([feeCharge.amount, tokenCharge.amount, tokenCharge.amountBase, tokenCharge.token]).toEqual([
      order.amount,
      5,
      '500',
      rune.name,
    ]);
    expect(refunds).toMatch(/creator/u);
    expect(order).not.toHaveProperty('psbt');
    expect(await takenOf(id)).toEqual({ taken: 2, unpaid: 2 });
    const gained = await changes(async () => {
      for (const [nth, step] of steps.entries()) {
        if (step !== 'sats') await sale.payRune(order, rune, 500n);
        if (step !== 'rune') await sale.paySats(order);
        await mine();
        if (nth < steps.length - 1) {
          // the order follows its charges a moment later, and waits for the other part
          await sale.until(
            order.id,
            ({ state, tokenPayCharge: { feeCharge: fee, tokenCharge: token } }) =>
              [fee.state, token.state].includes('completed') && state === 'waiting-payment',
          );
        }
      }
      await shop.world.deliver(order.id);
    });
    // the account gets the rune and the sats of the rune's output; the sats of the order belong to the order
    expect([name, gained]).toEqual([name, { [rune.name]: 500n, BTC: 546n }]);
    const read = await sale.until(order.id, ({ tokenPayCharge }) => tokenPayCharge.state === 'completed');
    expect(read).toMatchObject({ state: 'completed', tokenPayCharge: { state: 'completed' } });
    expect((await ledgerOf(order.id))['outside']).toBe(-order.amount);
    expect(await takenOf(id)).toEqual({ taken: 2, unpaid: 0 });
    await requireExactCounts(shop.world.database.pool, id);
    await expectProven();
  });

  test('waits for the last unit; another rune goes to the creator and does not count', async () => {
    await sale.approved('short', 2, rune, 100n);
    const order = await sale.ordered({ id: 'short', requestedIds: [2] });
    await sale.payRune(order, rune, 99n);
    await sale.payRune(order, other, 100n);
    await sale.paySats(order);
    await mine();
    // a pending payment in a rune counts as seen until a block shows its units, so the order goes back a moment later
    await sale.until(
      order.id,
      ({ state, tokenPayCharge: { feeCharge, tokenCharge } }) =>
        feeCharge.state === 'completed' &&
        tokenCharge.state === 'payment_seen' &&
        state === 'waiting-payment',
    );
    await sale.payRune(order, rune, 1n);
    await mine();
    await sale.until(order.id, isPaid);
    await shop.world.deliver(order.id);
    await expectProven();
  });

  test('that is not paid in time frees its items, refunds the sats, and leaves the rune with the creator', async () => {
    await sale.approved('late', 2, rune, 100n);
    const nothing = await sale.ordered({ id: 'late', requestedIds: [1] });
    await sale.age(nothing);
    await sale.until(nothing.id, ({ state }) => state === 'expired');
    expect((await sale.read(nothing.id)).tokenPayCharge.state).toBe('error');
    const sats = await sale.ordered({ id: 'late', requestedIds: [2] });
    await sale.paySats(sats);
    await mine();
    await sale.until(sats.id, ({ tokenPayCharge }) => tokenPayCharge.feeCharge.state === 'completed');
    await sale.age(sats);
    await shop.world.database.pool.query(
      `UPDATE service.payments_seen SET first_seen = first_seen - interval '1 day' WHERE script = (SELECT script FROM service.orders WHERE id = $1)`,
      [sats.id],
    );
    await sale.until(sats.id, ({ state }) => state === 'waiting-refund');
    await sale.until(sats.id, ({ refund }) => refund?.address === addressOf(refundIndex));
    // the rune comes late, so the creator has it, but nothing is delivered
    const gained = await changes(async () => {
      await sale.payRune(sats, rune, 100n);
      await mine();
      await shop.until(sats.tokenPayCharge.id, ({ received }) => received.length === 1);
    });
    expect(gained).toEqual({ [rune.name]: 100n, BTC: 546n });
    const read = await sale.read(sats.id);
    expect([read.tokenPayCharge.state, read.state]).toEqual(['error', expect.stringMatching(/refund/u)]);
    await shop.world.eventually(async () => {
      expect(await takenOf('late')).toEqual({ taken: 0, unpaid: 0 });
    });
    await expectProven();
  });

  test('can be cancelled before a payment, but not after a part of its rune', async () => {
    await sale.approved('cancelled', 2, rune, 100n);
    const cancel = async ({ id }: RuneOrder) =>
      (await shop.app.inject({ method: 'POST', url: '/order/cancel', payload: { id } })).statusCode;
    const nothing = await sale.ordered({ id: 'cancelled', count: 1 });
    expect(await cancel(nothing)).toBe(200);
    await sale.until(nothing.id, ({ tokenPayCharge }) => tokenPayCharge.state === 'error');
    expect(await takenOf('cancelled')).toEqual({ taken: 0, unpaid: 0 });
    const part = await sale.ordered({ id: 'cancelled', count: 1 });
    await sale.payRune(part, rune, 1n);
    await mine();
    await sale.until(part.id, ({ tokenPayCharge }) => tokenPayCharge.tokenCharge.state === 'payment_seen');
    expect(await cancel(part)).toBe(409);
  });

  async function created(id: string, given: object, key: string | null = shop.key) {
    const answer = await shop.app.inject({
      method: 'POST',
      url: '/collection-create',
      headers: key === null ? {} : { 'x-api-key': key },
      payload: { id, name: id, description: 'A test', creator: 'Ada', totalCount: 3, ...given },
    });
    return {
      status: answer.statusCode,
      body: answer.json<{ altPrices?: object; error?: { msg: string }[] }>(),
    };
  }

  test('learns of its rune while another process has it locked', async () => {
    const { pool } = shop.world.database;
    await sale.approved('locked', 1, rune, 100n);
    const order = await sale.ordered({ id: 'locked', count: 1 });
    const processing = await pool.connect();
    try {
      await processing.query('BEGIN');
      await processing.query('SELECT FROM service.orders WHERE id = $1 FOR UPDATE', [order.id]);
      // the fee charge of the order changes, which is news for the order
      await putFeePayment(pool, order.id, 'part', null);
      await sale.until(order.id, ({ tokenPayCharge }) => tokenPayCharge.feeCharge.state === 'payment_seen');
    } finally {
      await processing.query('ROLLBACK');
      processing.release();
    }
  });

  test('needs a collection with an etched rune, and a price that exists in it', async () => {
    const price = (token: string, amount: number | string) => ({ altPrices: { rune: { amount, token } } });
    const made = await created('created', price(rune.name.replaceAll('•', ''), 2.5));
    expect([made.status, made.body.altPrices]).toEqual([200, { rune: { amount: 2.5, token: rune.name } }]);
    const { rows } = await shop.world.database.pool.query<{ account: string; amount: string }>(
      `SELECT account, amount::text FROM service.mint_rune_prices WHERE collection = 'created'`,
    );
    expect(rows).toEqual([{ account: shop.account, amount: '250' }]);
    const faulty: readonly [object, RegExp, string | null][] = [
      [price('ZZZZZZZZZZZZZ', 1), /no block has etched a rune ZZZZZZZZZZZZZ/u, shop.key],
      [price(rune.name, 0.001), /altPrices\.rune\.amount|more than 2 decimals/u, shop.key],
      [price(other.name, '1.5'), /more than 0 decimals/u, shop.key],
      [price(rune.name, '10000.01'), /the maximum supply of/u, shop.key],
      [price(rune.name, 1), /needs the key of an account/u, null],
    ];
    for (const [given, words, key] of faulty) {
      const refused = await created('faulty', given, key);
      expect([given, refused.status]).toEqual([given, 400]);
      expect(refused.body.error?.map(({ msg }) => msg).join()).toMatch(words);
    }
  });

  test('has the price of POST /price, and an impossible price is refused', async () => {
    await sale.approved('priced', 8, rune, 400_000n);
    const price = async (count: number) => {
      const payload = {
        order: { collection: { id: 'priced', count }, receiveAddress: addressOf(1), fee: 2 },
      };
      const answer = await shop.app.inject({ method: 'POST', url: '/price', payload });
      return { status: answer.statusCode, body: answer.json<object>() };
    };
    expect(await price(2)).toMatchObject({
      status: 200,
      body: {
        price: 0,
        tokenPayCharge: { tokenCharge: { amount: 8_000, token: rune.name, protocol: 'rune' } },
      },
    });
    // the rune has 1,000,000 base units
    expect((await price(3)).status).toBe(400);
    expect((await sale.post({ id: 'priced', count: 3 })).status).toBe(400);
    expect(await takenOf('priced')).toEqual({ taken: 0, unpaid: 0 });
  });

  test('is paid on the page of its token order with one transaction of a wallet', async () => {
    await sale.approved('page', 1, rune, 100n);
    const { id, tokenPayCharge } = await sale.ordered({ id: 'page', count: 1 });
    const page = await shop.app.inject({ url: `/tokenpay/checkout/${tokenPayCharge.id}` });
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain(tokenPayCharge.feeCharge.address);
    expect(page.body).toContain(tokenPayCharge.tokenCharge.address);
    const [fee, token] = [
      await shop.scriptOf(tokenPayCharge.feeCharge.address),
      await shop.scriptOf(tokenPayCharge.tokenCharge.address),
    ];
    await shop.send([
      { value: 546, outputScript: token, units: [[rune, 100n]] },
      { value: tokenPayCharge.feeCharge.amount, outputScript: fee },
    ]);
    await sale.until(id, ({ state }) => state === 'waiting-confirmation');
    // the sats of the order need the confirmations of an inscription order, and its rune needs those of a token order
    shop.orderConfirmations = 4;
    const seen = await shop.app.inject({ url: `/tokenpay/checkout/${tokenPayCharge.id}` });
    expect(seen.body.match(/\d of \d confirmations?/gu)).toEqual([
      '0 of 1 confirmation',
      '0 of 4 confirmations',
    ]);
    await shop.world.deliver(id);
    const paid = await shop.app.inject({ url: `/tokenpay/checkout/${tokenPayCharge.id}` });
    expect(paid.body).toMatch(/paid/iu);
  });

  test('is ordered, paid and read by the public client', async () => {
    await sale.approved('client', 4, rune, 125n);
    const origin = await shop.app.listen({ host: '127.0.0.1', port: 0 });
    const call = <Value>(name: 'Inscription' | 'TokenPay', method: string, parameter: unknown) =>
      callClient<Value>(origin, name, method, [parameter]);
    const wanted = {
      collection: { id: 'client', count: 2 },
      receiveAddress: addressOf(61_000),
      refundAddress: addressOf(refundIndex),
      fee: 2,
      token: 'solved',
    };
    const { value: order, error } = await call<RuneOrder>('Inscription', 'createCollectionOrder', wanted);
    expect(error).toBeUndefined();
    expect(order).toMatchObject({
      status: 'ok',
      charge: null,
      tokenPayCharge: { tokenCharge: { amount: 2.5, token: rune.name } },
    });
    // one network can hold at most half of the remaining items
    const again = await call('Inscription', 'createCollectionOrder', wanted);
    expect(again.error?.status).toBe(409);
    await sale.payRune(order!, rune, 250n);
    await sale.paySats(order!);
    await shop.world.deliver(order!.id);
    await sale.until(order!.id, ({ tokenPayCharge: { state } }) => state === 'completed');
    const read = await call<RuneOrder>('Inscription', 'getOrder', order!.id);
    expect(read.value).toMatchObject({ state: 'completed', tokenPayCharge: { state: 'completed' } });
    await requireExactCounts(shop.world.database.pool, 'client');
    await expectProven();
  });

  test('is the only one with the last item', async () => {
    await sale.approved('last', 1, rune, 100n);
    const together = await Promise.all([1, 2, 3].map(() => sale.post({ id: 'last', count: 1 })));
    expect(together.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400]);
    await requireExactCounts(shop.world.database.pool, 'last');
  });

  test('whose rune a reorganisation removes is not delivered twice, and its token order waits again', async () => {
    const { chain, database } = shop.world;
    await sale.approved('reorganised', 1, rune, 100n);
    const order = await sale.ordered({ id: 'reorganised', count: 1 });
    await sale.paySats(order);
    await mine();
    const reveals = async (): Promise<readonly unknown[]> => {
      const { rows } = await database.pool.query<{ txid: Buffer }>(
        `SELECT txid FROM service.wallet_transactions WHERE order_id = $1 AND kind = 'reveal'`,
        [order.id],
      );
      return rows;
    };
    const gained = await changes(async () => {
      await sale.payRune(order, rune, 100n);
      await shop.world.deliver(order.id);
      await sale.until(order.id, ({ tokenPayCharge }) => tokenPayCharge.state === 'completed');
    });
    const made = await reveals();
    const lost = await changes(async () => {
      await chain.takeBack(2);
      await chain.mineEmpty(3);
      const gone = await shop.until(order.tokenPayCharge.id, ({ received }) => received.length === 0);
      expect(gone.state).toBe('pending');
    });
    expect(Object.values(lost)).toEqual(Object.values(gained).map((units) => -units));
    // a delivery that was sent stays sent, and the node has all its transactions again
    await mine();
    await sale.until(
      order.id,
      ({ state, tokenPayCharge }) => state === 'completed' && tokenPayCharge.state === 'completed',
    );
    expect(await reveals()).toEqual(made);
    expect(await takenOf('reorganised')).toEqual({ taken: 1, unpaid: 0 });
    await expectProven();
  });
});
