import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readDecimal } from '#fx/fx-rates.ts';
import { readDepositAddresses } from '#orders/parents/deposits.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';
import { file, good } from './bad-inputs.ts';

let http: OrdersApp;
/** Dollars per bitcoin; `null` if unknown now. */
let bitcoin: string | null = null;
beforeAll(async () => {
  const fxRates = async () =>
    bitcoin === null ? null : { usd: new Map([['bitcoin', readDecimal(bitcoin)!]]), updatedAt: new Date() };
  http = await createOrdersApp(null, null, { fxRates });
  await http.database.pool.query(
    `INSERT INTO chain.inscriptions (key, index, height, tx_index, input, flags, txid) VALUES (0, 0, 0, 0, 0, 0, $1)`,
    [Buffer.from('aa'.repeat(32), 'hex')],
  );
  await http.database.pool.query(
    `INSERT INTO chain.locations (key, height, sat_offset, value, step, vout, place, script)
     VALUES (0, 0, 0, 10000, 0, 0, 0, $1)`,
    [Buffer.alloc(34, 0x51)],
  );
});
afterAll(() => http.close());

interface Refusal {
  readonly error: readonly { readonly msg: string }[];
}
interface Managed {
  readonly id: string;
  readonly orderType: string;
  readonly chainFee: number;
  readonly serviceFee: number;
  readonly baseFee: number;
  readonly rareSatsFee: number;
  readonly postage: number;
  readonly compress: unknown;
  readonly parent: unknown;
  readonly parents: unknown;
  readonly files: readonly { readonly url: string; readonly name: string; readonly size: number }[];
  readonly charge: Readonly<Record<string, unknown>> & { readonly address: string; readonly amount: number };
}

const texts = { texts: ['hello', 'ünï 🟧'], receiveAddress: addressOf(700), fee: 2 };
const parent = { inscriptionId: `${'aa'.repeat(32)}i0`, returnAddress: addressOf(710), value: 10_000 };
const messagesOf = ({ error }: Refusal): string[] => error.map(({ msg }) => msg);
const rowsOfOrders = async (): Promise<number> => {
  const { rows } = await http.database.pool.query<{ count: number }>('SELECT count(*) FROM service.orders');
  return rows[0]!.count;
};

describe('POST /order', () => {
  test('answers with the whole charge of the stored order, at the price of POST /price', async () => {
    const sent = { ...good, compress: true, timeout: 120, projectTag: 'tag' };
    const { status, body } = await http.post<Managed>('/order', sent);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'ok',
      state: 'waiting-payment',
      orderType: 'bulk',
      compress: true,
      batchMode: null,
      rareSats: null,
      rareSatsFee: 0,
      parent: null,
      parents: null,
      delegates: null,
      projectTag: 'tag',
      createdAt: { '.sv': 'timestamp' },
    });
    const { rows } = await http.database.pool.query<{
      kind: string;
      address: string;
      paid_to: string;
      amount: number;
      created_at: Date;
    }>('SELECT kind, address, paid_to, amount, created_at FROM service.orders WHERE id = $1', [body.id]);
    const [row] = rows;
    const { address, amount } = row!;
    expect([row!.kind, row!.paid_to]).toEqual(['bulk', 'wallet']);
    expect(body.charge).toEqual({
      id: body.id,
      description: 'Inscription order',
      desc_hash: false,
      created_at: Math.floor(row!.created_at.getTime() / 1000),
      status: 'unpaid',
      amount,
      callback_url: '',
      success_url: null,
      hosted_checkout_url: `http://localhost:80/order#${body.id}`,
      order_id: null,
      currency: 'BTC',
      source_fiat_value: amount,
      auto_settle: false,
      notif_email: null,
      address,
      metadata: {},
      chain_invoice: { address },
      uri: `bitcoin:${address}?amount=${(amount / 1e8).toFixed(8).replace(/0+$/u, '')}&label=Inscription%20order`,
      ttl: 120,
    });
    const price = await http.post<{ amount: number }>('/price', { type: 'bulk', order: sent });
    expect(price.body.amount).toBe(amount);
    expect(body.serviceFee).toBe(body.baseFee + body.postage + Math.floor(body.chainFee / 10));
  });

  test('is read with the same charge, and without empty fields', async () => {
    const { body: made } = await http.post<Managed>('/order', { ...good, fee: '3', compress: 'false' });
    const { body: read } = await http.get<Readonly<Record<string, unknown>>>(`/order/${made.id}`);
    const charge = Object.fromEntries(Object.entries(made.charge).filter(([, value]) => value !== null));
    expect(read).toMatchObject({
      orderType: 'bulk',
      state: 'waiting-payment',
      fee: '3',
      charge,
      compress: 'false',
      amount: made.charge.amount,
      price: 0,
      fileCount: 1,
      rareSatsFee: 0,
    });
    expect(read['charge']).toEqual(charge);
    for (const absent of ['parent', 'parents', 'paidAt', 'processingAt', 'tx', 'sent', 'refund', 'batchMode'])
      expect(read).not.toHaveProperty(absent);
  });

  test('takes an address for each file, and refuses a shorter list', async () => {
    const files = [file, file, file];
    const receiveAddress = [addressOf(700), addressOf(701), addressOf(702)];
    const { status, body } = await http.post<Managed>('/order', { ...good, files, receiveAddress });
    expect([status, body.files.length]).toEqual([200, 3]);
    const short = await http.post<Refusal>('/order', {
      ...good,
      files,
      receiveAddress: receiveAddress.slice(0, 2),
    });
    expect([short.status, messagesOf(short.body)]).toEqual([
      400,
      ['receiveAddress has 2 addresses, but must have one, or one for each of the 3 files.'],
    ]);
  });

  test('takes one parent as an object, which gets its own deposit address', async () => {
    for (const sent of [
      { parent },
      { parent: { ...parent, value: '10000' } },
      { parents: [parent] },
      { parent, parents: [{ ...parent, value: '10000' }] },
    ]) {
      const { status, body } = await http.post<Managed>('/order', { ...good, ...sent });
      expect([sent, status]).toEqual([sent, 200]);
      const [shown] = body.parents as [object];
      expect(body.parent).toEqual(shown);
      const [deposit] = await readDepositAddresses(http.database.pool, body.id);
      const { body: read } = await http.get<Managed>(`/order?id=${body.id}`);
      expect(read.parent).toEqual({ ...shown, depositAddress: deposit!.address });
      expect(read.parents).toEqual([read.parent]);
    }
  });

  test.each<[string, object, string]>([
    [
      'two parents that differ',
      { parent, parents: [{ ...parent, value: 9000 }] },
      'parent and parents differ. Send only one of these fields.',
    ],
    ['a list as parent', { parent: [parent] }, 'parent must be an object'],
    ['a parent without a value', { parent: { ...parent, value: undefined } }, 'parent.value is required.'],
    [
      'texts',
      { texts: ['one'] },
      'texts cannot be part of an order of files. Send texts to POST /textorder.',
    ],
    ['no files', { files: [], texts: [] }, 'An order needs files or delegates.'],
    [
      'a timeout of 15 minutes',
      { timeout: 15 },
      'timeout must be a multiple of 10 minutes, and at most 43200',
    ],
  ])('refuses %s with the reason, and creates nothing', async (_, more, says) => {
    const before = await rowsOfOrders();
    const { status, body } = await http.post<Refusal>('/order', { ...good, ...more });
    expect([status, messagesOf(body)]).toEqual([400, [says]]);
    expect(await rowsOfOrders()).toBe(before);
  });

  test('shows dollars if a rate is known, and keeps those of the creation', async () => {
    bitcoin = '100000';
    const made = await http.post<Managed>('/order', good);
    const { amount } = made.body.charge;
    expect(made.body.charge['fiat_value']).toBe(amount / 1000);
    bitcoin = null;
    const read = await http.get<Managed>(`/order/${made.body.id}`);
    expect(read.body.charge['fiat_value']).toBe(amount / 1000);
    const without = await http.post<Managed>('/order', good);
    expect(without.body.charge).not.toHaveProperty('fiat_value');
    bitcoin = '100000';
    const direct = await http.post<Managed>('/inscribe', good);
    expect(direct.body.charge).toEqual({ amount: direct.body.charge.amount });
    bitcoin = null;
  });

  test('answers the same bytes again to the same key', async () => {
    const headers = { 'idempotency-key': 'managed' };
    const sent = { method: 'POST', url: '/order', payload: good, headers } as const;
    const [first, again] = [await http.app.inject(sent), await http.app.inject(sent)];
    expect(first.statusCode).toBe(200);
    expect(again.body).toBe(first.body);
    expect(first.json<Managed>().charge.address).toMatch(/^bcrt1p/u);
  });
});

describe('POST /textorder', () => {
  test('makes a file of each text, which its URL serves', async () => {
    const { status, body } = await http.post<Managed>('/textorder', { ...texts, postage: 1000 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ orderType: 'bulk', postage: 1000 });
    expect(body.files).toMatchObject([
      { name: '1.txt', size: 5, type: 'text/plain;charset=utf-8' },
      { name: '2.txt', size: Buffer.byteLength('ünï 🟧') },
    ]);
    for (const [index, text] of texts.texts.entries()) {
      const { pathname } = new URL(body.files[index]!.url);
      expect((await http.app.inject({ url: pathname })).body).toBe(text);
    }
    const price = await http.post<{ amount: number }>('/price', { order: { ...texts, postage: 1000 } });
    expect(price.body.amount).toBe(body.charge.amount);
  });

  test('takes long texts of a large body as they are', async () => {
    const long = ['ä'.repeat(180_000), 'b'.repeat(350_000), 'short', '🟧'.repeat(90_000), 'c'.repeat(2000)];
    const { status, body } = await http.post<Managed>('/textorder', { ...texts, texts: long });
    expect([status, body.files.length]).toEqual([200, long.length]);
    for (const [index, text] of long.entries()) {
      const { pathname } = new URL(body.files[index]!.url);
      expect((await http.app.inject({ url: pathname })).rawPayload.equals(Buffer.from(text))).toBe(true);
    }
  });

  test.each<[string, object, readonly string[]]>([
    ['one text without a list', { texts: 'hello' }, ['texts must be a list']],
    ['no texts', { texts: undefined }, ['texts is required for an order of texts.']],
    ['neither texts nor files', { texts: [], files: [] }, ['texts is required for an order of texts.']],
    [
      'texts that are not texts',
      { texts: ['a', '', 3, null, { text: 'b' }] },
      ['texts[1] is empty', 'texts[2] must be a text', 'texts[3] must be a text', 'texts[4] must be a text'],
    ],
    [
      'files beside them',
      { files: [file] },
      ['files cannot be part of an order of texts. Use POST /order for this.'],
    ],
    ['half of a surrogate pair', { texts: ['a', 'b\ud800'] }, ['texts[1] is not valid Unicode']],
    ['a NUL', { texts: ['a\0'] }, ['texts[0] has a NUL character (U+0000)']],
    [
      '10,001 texts',
      { texts: Array.from({ length: 10_001 }, () => 'a') },
      ['texts are 10001, but an order has at most 10000'],
    ],
    [
      'two addresses for three texts',
      { texts: ['a', 'b', 'c'], receiveAddress: [addressOf(700), addressOf(701)] },
      ['receiveAddress has 2 addresses, but must have one, or one for each of the 3 files.'],
    ],
  ])('refuses %s, and a price of it in the same words', async (_, more, says) => {
    const before = await rowsOfOrders();
    const order = { ...texts, ...more };
    const { status, body } = await http.post<Refusal>('/textorder', order);
    expect([status, messagesOf(body)]).toEqual([400, says]);
    expect(await rowsOfOrders()).toBe(before);
  });
});
