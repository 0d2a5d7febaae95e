import { afterAll, beforeAll, expect, test } from 'vitest';
import { newApiKey } from '#accounts/api-key.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { answerKey, claimKey, giveUpKey } from '#orders/creating/idempotency.store.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

let http: OrdersApp;
beforeAll(async () => {
  http = await createOrdersApp();
});
afterAll(() => http.close());

const body = {
  files: [{ name: 'a.txt', size: 1, dataURL: 'data:text/plain;base64,YQ==' }],
  receiveAddress: addressOf(700),
  fee: '3',
};
interface Answer {
  readonly id?: string;
  readonly status?: string;
  readonly error?: readonly { readonly msg: string }[];
}
const order = (key: string, sent: object = body) =>
  http.post<Answer>('/inscribe', sent, { 'idempotency-key': key });

async function orders(): Promise<number> {
  const { rows } = await http.database.pool.query<{ count: number }>('SELECT count(*) FROM service.orders');
  return rows[0]!.count;
}

test('the same creation again gets the first answer, and creates nothing', async () => {
  const first = await order('a-key');
  expect(first.status).toBe(200);
  const before = await orders();
  // blanks and the order of fields do not matter
  const { fee, ...others } = body;
  const again = await order('a-key', { ...others, fee });
  expect(again.status).toBe(200);
  expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
  expect(again.headers['cache-control']).toBe('no-store');
  expect(await orders()).toBe(before);
  expect((await order('another-key')).body.id).not.toBe(first.body.id);
  expect((await http.post<Answer>('/inscribe', body)).body.id).not.toBe(first.body.id);
});

test('a creation has the warnings of its plan, which its price has too', async () => {
  const [file] = body.files;
  const two = { ...body, files: [file, file], postage: 330 };
  const made = await http.post<{ warnings?: readonly { code: string }[] }>('/inscribe', two);
  expect(made.body.warnings?.map(({ code }) => code)).toEqual(['vindicated', 'dust']);
  const price = await http.post<{ warnings?: unknown }>('/price?plan=1', { type: 'direct', order: two });
  expect(price.body.warnings).toEqual(made.body.warnings);
  expect((await http.post('/inscribe', body)).body).not.toHaveProperty('warnings');
});

test('many at once create one order: the others get its answer, or must wait', async () => {
  const before = await orders();
  const answers = await Promise.all(Array.from({ length: 8 }, () => order('at-once')));
  expect(await orders()).toBe(before + 1);
  const made = answers.filter(({ status }) => status === 200);
  expect(new Set(made.map((answer) => answer.body.id)).size).toBe(1);
  for (const { status, body: refused } of answers.filter((answer) => answer.status !== 200)) {
    expect(status).toBe(409);
    expect(refused.error?.[0]?.msg).toContain('still being processed');
    expect(refused).not.toHaveProperty('id');
  }
});

test('another body with the key is refused, whatever the difference', async () => {
  await order('bodies');
  const [file] = body.files;
  for (const other of [
    { ...body, fee: 3 },
    { ...body, fee: '4' },
    { ...body, postage: null },
    { ...body, files: [file, file] },
    { ...body, files: [{ ...file, dataURL: 'data:text/plain;base64,Yg==' }] },
  ]) {
    const { status, body: refused } = await order('bodies', other);
    expect([other, status]).toEqual([other, 422]);
    expect(refused.error?.[0]?.msg).toContain('a different body');
  }
});

test('a refused creation leaves no key, and a key of one path does not count on another', async () => {
  expect((await order('corrected', { ...body, fee: 0 })).status).toBe(400);
  expect((await order('corrected')).status).toBe(200);
  const referral = { referral: 'once', address: addressOf(710) };
  const register = (sent: object) =>
    http.post<Answer>('/referrals', sent, { 'idempotency-key': 'corrected' });
  expect(await register(referral)).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(await register(referral)).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect((await register({ ...referral, address: addressOf(711) })).status).toBe(422);
});

test('an invalid key is refused', async () => {
  for (const key of ['', 'a b', 'ü', 'a'.repeat(256)]) {
    const { status, body: refused } = await order(key);
    expect([key, status]).toEqual([key, 400]);
    expect(refused.error?.[0]?.msg).toContain('Idempotency-Key');
  }
  expect((await order('~'.repeat(255))).status).toBe(200);
});

test('another client with the same key and body creates its own order', async () => {
  const ask = async (remoteAddress: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await http.app.inject({
      method: 'POST',
      url: '/inscribe',
      headers: { 'idempotency-key': 'guessed', ...headers },
      payload: body,
      remoteAddress,
    });
    return answer.json<Answer>().id;
  };
  const { pool } = http.database;
  const mine = await giveKey(pool, { scopes: ['search'] });
  const theirs = await giveKey(pool, { scopes: ['orders'] });
  const ids = [
    await ask('192.0.2.1'),
    await ask('192.0.2.2'),
    await ask('192.0.2.1', { 'x-api-key': mine.key }),
    await ask('192.0.2.1', { 'x-api-key': theirs.key }),
  ];
  expect(new Set(ids).size).toBe(4);
  expect(await ask('192.0.2.1')).toBe(ids[0]);
  // the same API key is the same client from any IP address
  expect(await ask('192.0.2.2', { authorization: `Bearer ${mine.key}` })).toBe(ids[2]);
});

test('an order has the prices of its key, and counts for its key', async () => {
  const { pool } = http.database;
  const { key } = await giveKey(pool, {
    scopes: ['orders'],
    terms: {
      baseFee: 7000,
      directBaseFee: 1501,
      discounts: [{ parameter: 'baseFee', discount: 33.33, type: 'percentage' }],
    },
  });
  const plain = (await giveKey(pool, { scopes: ['orders'] })).key;
  const made = newApiKey().key;
  const price = async (type: string, headers: Readonly<Record<string, string>>) =>
    (await http.post<{ amount: number }>('/price', { type, order: body }, headers)).body;
  const legacy = (headers: Readonly<Record<string, string>>, more = '') =>
    http.app.inject({ url: `/price?size=1&type=direct${more}`, headers });
  const usual = { direct: await price('direct', {}), bulk: await price('bulk', {}), get: await legacy({}) };
  // an unknown key counts as no key; a key without special terms changes no byte, and two different keys in one request
  // also change no byte
  for (const headers of [
    { 'x-api-key': plain },
    { 'x-api-key': made },
    { 'x-api-key': 'of another service' },
    { 'x-api-key': key, authorization: `Bearer ${plain}` },
    { cookie: `satscribe_key=${key}` },
  ]) {
    expect(JSON.stringify(await price('direct', headers))).toBe(JSON.stringify(usual.direct));
    expect((await legacy(headers)).body).toBe(usual.get.body);
  }
  // 1501 - 33.33 % is 1000.7167
  const direct = await price('direct', { 'x-api-key': key });
  const less = 2000 - 1000;
  expect(direct).toEqual({
    ...usual.direct,
    baseFee: 1000,
    serviceFee: 2546 - less,
    amount: usual.direct.amount - less,
    discounts: [{ discount: 33.33, parameter: 'baseFee', type: 'percentage' }],
  });
  const managed = await price('bulk', { authorization: `Bearer ${key}` });
  expect(managed).toMatchObject({ baseFee: 4666, amount: usual.bulk.amount - (9000 - 4666) });
  expect((await legacy({ 'x-api-key': key })).json()).toMatchObject({ baseFee: 1000 });
  expect((await legacy({ 'x-api-key': key }, '&baseFee=300')).json()).toMatchObject({ baseFee: 200 });

  const sent = async (headers: Readonly<Record<string, string>>) =>
    (await http.post<{ id: string; charge: { amount: number } }>('/inscribe', body, headers)).body;
  expect((await sent({})).charge).toEqual({ amount: usual.direct.amount });
  const ordered = await sent({ 'x-api-key': key });
  expect(ordered.charge).toEqual({ amount: direct.amount });
  const { rows } = await pool.query('SELECT quote FROM service.orders WHERE id = $1', [ordered.id]);
  expect(rows).toMatchObject([{ quote: { baseFee: 1000, serviceFee: 1546, amount: direct.amount } }]);
});

test('pages of other origins may send the key', async () => {
  const answer = await http.app.inject({
    method: 'OPTIONS',
    url: '/inscribe',
    headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
  });
  expect(answer.headers['access-control-allow-headers']).toContain('Idempotency-Key');
});

const keyed = (key: string) => ({ route: 'POST /test', owner: 'key 1', key, bodyHash: new Uint8Array(32) });

test('the claim of a killed process passes on, and the first process can no longer answer', async () => {
  const { pool, accessPool } = http.database;
  const first = await claimKey(accessPool, keyed('died'));
  expect(first.kind).toBe('claimed');
  expect((await claimKey(accessPool, keyed('died'))).kind).toBe('busy');
  await pool.query(
    `UPDATE service.idempotency_keys SET claimed_at = now() - interval '16 minutes' WHERE key = 'died'`,
  );
  const second = await claimKey(accessPool, keyed('died'));
  if (first.kind !== 'claimed' || second.kind !== 'claimed') throw new Error('the claim did not pass on');
  const late = withTransaction(accessPool, (tx) =>
    answerKey(tx, keyed('died'), first.claim, { answer: 'first' }),
  );
  await expect(late).rejects.toMatchObject({ code: 'idempotency_key_busy' });
  // a process also cannot give up a claim that is no longer its own
  await giveUpKey(accessPool, keyed('died'), first.claim);
  await withTransaction(accessPool, (tx) => answerKey(tx, keyed('died'), second.claim, { answer: 'second' }));
  expect(await claimKey(accessPool, keyed('died'))).toEqual({
    kind: 'answered',
    answer: '{"answer":"second"}',
  });
});

test('an order is not stored without its answer, and the key is free again', async () => {
  const { pool } = http.database;
  const before = await orders();
  await pool.query(
    `CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no answer'; END $$`,
  );
  await pool.query(
    'CREATE TRIGGER fail BEFORE UPDATE OF answer ON service.idempotency_keys FOR EACH ROW EXECUTE FUNCTION public.fail()',
  );
  expect((await order('lost')).status).toBeGreaterThanOrEqual(500);
  expect(await orders()).toBe(before);
  await pool.query('DROP TRIGGER fail ON service.idempotency_keys');
  expect((await order('lost')).status).toBe(200);
  expect(await orders()).toBe(before + 1);
});

test('answers are kept for seven days, and deleted then', async () => {
  const { pool, accessPool } = http.database;
  const { body: first } = await order('old');
  const age = (days: number) =>
    pool.query(`UPDATE service.idempotency_keys SET claimed_at = now() - $1 * interval '1 day'`, [days]);
  await age(6.9);
  expect((await order('old')).body.id).toBe(first.id);
  await age(7.1);
  expect((await order('old')).body.id).not.toBe(first.id);
  await age(7.1);
  await claimKey(accessPool, keyed('new'));
  const { rows } = await pool.query('SELECT key FROM service.idempotency_keys');
  expect(rows).toEqual([{ key: 'new' }]);
});
