import { afterAll, beforeAll, expect, test } from 'vitest';
import { readOrder } from '#orders/order/order.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
});
afterAll(() => http.close());

const address = addressOf(710);
const stranger = addressOf(711);
const body = {
  files: [
    { name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' },
    { name: 'b.txt', size: 1, dataURL: 'data:text/plain;base64,Yg==' },
  ],
  receiveAddress: addressOf(700),
};

interface Faults {
  readonly error: readonly { readonly msg: string }[];
}
interface Created {
  readonly id: string;
  readonly charge: { readonly amount: number };
  readonly [field: string]: unknown;
}
const statusOf = (referral: string, of: string) =>
  http.get(`/referrals?referral=${encodeURIComponent(referral)}&address=${of}`);

test('a code is registered with one address, again with the same one, and with no other', async () => {
  const put = (to: string) => http.post<Faults>('/referrals', { referral: 'friend', address: to });
  const [first, second] = await Promise.all([put(address), put(address)]);
  expect([first, second]).toMatchObject([
    { status: 200, body: { status: 'ok' } },
    { status: 200, body: { status: 'ok' } },
  ]);
  // the same address in another notation
  expect((await put(address.toUpperCase())).status).toBe(200);
  const refused = await put(stranger);
  expect(refused.status).toBe(400);
  expect(refused.body.error[0]?.msg).toContain('another address');
  expect(await statusOf('friend', address)).toMatchObject({
    status: 200,
    body: { address, orderCount: 0, paidCount: 0 },
  });
});

test('a status needs the address, and does not reveal whether a code is known', async () => {
  await http.post('/referrals', { referral: 'hidden', address });
  const wrong = await statusOf('hidden', stranger);
  const unknown = await statusOf('absent', stranger);
  expect(wrong).toMatchObject({ status: 200, body: { status: 'error' } });
  expect(JSON.stringify(wrong.body).replace('hidden', 'absent')).toBe(JSON.stringify(unknown.body));
  expect((await http.get('/referrals?referral=hidden')).body).toEqual({
    status: 'error',
    error: 'address is required.',
  });
});

test('an impossible code, or an address that cannot be paid, is refused', async () => {
  const faulty: readonly [object, RegExp][] = [
    [{ address }, /referral/u],
    [{ referral: 'a' }, /address/u],
    [{ referral: '', address }, /referral is required/u],
    [{ referral: 'a b', address }, /without spaces/u],
    [{ referral: 'a'.repeat(65), address }, /64/u],
    [{ referral: 'a\u0000', address }, /referral/u],
    [{ referral: 7, address }, /referral/u],
    [{ referral: 'a', address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }, /network/u],
    [{ referral: 'a', address: 'bcrt1pfeesnyr2tx' }, /anchor/u],
    [
      { referral: 'a', address: 'bcrt1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqzssr24l3' },
      /no one can spend/u,
    ],
  ];
  for (const [given, words] of faulty) {
    const answer = await http.post<Faults>('/referrals', given);
    expect([given, answer.status]).toEqual([given, 400]);
    expect(answer.body.error.map(({ msg }) => msg).join()).toMatch(words);
  }
});

test('an order names a known referral, pays its additional fee, and shows both', async () => {
  await http.post('/referrals', { referral: 'shop', address });
  const plain = await http.post<Created>('/inscribe', body);
  const { status, body: created } = await http.post<Created>('/inscribe', {
    ...body,
    referral: 'shop',
    additionalFee: '250',
  });
  expect(status).toBe(200);
  expect(created).toMatchObject({ referral: 'shop', additionalFee: 250, additionalFeeCharged: 500 });
  expect(created).not.toHaveProperty('referralFee');
  expect(created.charge.amount).toBe(plain.body.charge.amount + 500);
  expect(plain.body).toMatchObject({ referral: null, additionalFee: null });
  const read = await http.get<Created>(`/order/${created.id}`);
  expect(read.body).toMatchObject({ referral: 'shop', additionalFee: 250, additionalFeeCharged: 500 });
  const stored = await readOrder(http.database.pool, created.id);
  // the referral gets 15 % of a base fee of 2,000, once for the order
  expect(stored?.quote).toMatchObject({ referralFee: 300, additionalFeeCharged: 500 });
  expect(stored?.terms['additionalFee']).toBe('250');
  expect(await statusOf('shop', address)).toMatchObject({ body: { orderCount: 0, paidCount: 0 } });
  await http.database.pool.query(`UPDATE service.orders SET state = 'completed' WHERE id = $1`, [created.id]);
  expect(await statusOf('shop', address)).toMatchObject({ body: { orderCount: 1, paidCount: 1 } });
});

test('an order counts for its referral while it is paid, and not before or after', async () => {
  await http.post('/referrals', { referral: 'counted', address });
  const { body: made } = await http.post<Created>('/inscribe', { ...body, referral: 'counted' });
  for (const [state, orderCount, paidCount] of [
    ['waiting-payment', 0, 0],
    ['waiting-parent', 0, 0],
    // the payment is only in the mempool, so the payer can still replace it
    ['waiting-confirmation', 0, 0],
    ['prep', 1, 0],
    ['queued', 1, 0],
    ['error', 1, 0],
    ['completed', 1, 1],
    ['waiting-refund', 0, 0],
    ['refunded', 0, 0],
    ['expired', 0, 0],
    ['cancelled', 0, 0],
  ] as const) {
    await http.database.pool.query(
      `UPDATE service.orders SET state = $2, error = CASE WHEN $2 = 'error' THEN 'why' END WHERE id = $1`,
      [made.id, state],
    );
    const status = await statusOf('counted', address);
    expect([state, status.body]).toEqual([state, { address, orderCount, paidCount }]);
  }
});

test('an order with an unknown referral, or a fee without one, is refused before there is an address', async () => {
  const count = async (): Promise<unknown> =>
    (await http.database.pool.query('SELECT count(*) FROM service.orders')).rows[0];
  const before = await count();
  for (const [given, words] of [
    [{ referral: 'absent' }, /absent is unknown/u],
    [{ referral: 'absent\u0000' }, /referral has a NUL/u],
    [{ additionalFee: 100 }, /only valid with a referral/u],
  ] as const) {
    const answer = await http.post<Faults>('/inscribe', { ...body, ...given });
    expect(answer.status).toBe(400);
    expect(answer.body.error.map(({ msg }) => msg).join()).toMatch(words);
  }
  expect(await count()).toEqual(before);
});

test('a generated code cannot be guessed, and is answered again with its key', async () => {
  const made = await http.post<{ status: string; referral: string }>(
    '/referrals',
    { address, makeCode: true },
    { 'idempotency-key': 'made' },
  );
  expect(made).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(made.body.referral).toMatch(/^[0-9a-f]{32}$/u);
  const again = await http.post('/referrals', { address, makeCode: true }, { 'idempotency-key': 'made' });
  expect(again.body).toEqual(made.body);
  const other = await http.post<{ referral: string }>('/referrals', { address, makeCode: true });
  expect(other.body.referral).not.toBe(made.body.referral);
  expect(await statusOf(made.body.referral, address)).toMatchObject({ body: { orderCount: 0 } });
  const both = await http.post<Faults>('/referrals', { address, makeCode: true, referral: 'a' });
  expect([both.status, both.body.error[0]?.msg]).toEqual([400, expect.stringContaining('makeCode')]);
});

test('codes are not found by guessing: a network that sends wrong ones gets no answer about any code', async () => {
  const from = (ip: string, url: string, payload: object) =>
    http.app.inject({ method: 'POST', url, remoteAddress: ip, payload });
  await from('198.51.100.1', '/referrals', { referral: 'known', address });
  for (let nth = 0; nth < 10; nth++) {
    const order = await from(`203.0.113.${nth}`, '/inscribe', { ...body, referral: `guess-${nth}` });
    expect([order.statusCode, order.body]).toEqual([400, expect.stringContaining('is unknown')]);
    const taken = await from('203.0.113.99', '/referrals', { referral: 'known', address: stranger });
    expect([taken.statusCode, taken.body]).toEqual([400, expect.stringContaining('another address')]);
  }
  const answers = await Promise.all(
    ['known', 'unknown'].flatMap((referral) => [
      from('203.0.113.7', '/inscribe', { ...body, referral }),
      from('203.0.113.7', '/referrals', { referral, address: stranger }),
    ]),
  );
  for (const { statusCode, headers, json } of answers) {
    expect(statusCode).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(60);
    expect(json()).toEqual({ status: 'error', error: expect.stringContaining('referral') as string });
  }
  // an order without a referral is not affected, and other networks are not affected
  expect((await from('203.0.113.7', '/inscribe', body)).statusCode).toBe(200);
  expect((await from('198.51.100.2', '/inscribe', { ...body, referral: 'known' })).statusCode).toBe(200);
  const { rows } = await http.database.pool.query(`SELECT FROM service.referrals WHERE code = 'unknown'`);
  expect(rows).toEqual([]);
});
