import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { cancelPayout } from '#payouts/asking/cancel-payout.ts';
import { insertPayout } from '#payouts/payout/payout.store.ts';
import { beginHold, endHold } from '#purse/holding/payment-hold.store.ts';
import { addressOf, scriptOf } from '#test/builders/regtest/regtest-transaction.ts';
import { type FileServer, startFileServer } from '#test/support/collections/file-server.ts';
import { insertPending } from '#test/support/collections/pending-rows.ts';
import type { Operator } from '#test/support/http/console-app.ts';
import { createFilledConsole, type FilledConsole } from '#test/support/http/console-rows.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let filled: FilledConsole;
let operator: Operator;
let server: FileServer;
beforeAll(async () => {
  server = await startFileServer();
  filled = await createFilledConsole();
  operator = await filled.console.signIn(await filled.console.newKey('alice'));
});
afterAll(async () => {
  await filled?.close();
  await server?.close();
});

async function rows<Row extends object>(sql: string, ...values: unknown[]): Promise<Row[]> {
  return (await filled.shop.database.pool.query<Row>(sql, values)).rows;
}
const stateOf = async (id: string): Promise<string | undefined> =>
  (await rows<{ state: string }>('SELECT state FROM service.orders WHERE id = $1', id))[0]?.state;
interface Recorded {
  readonly account: string;
  readonly action: string;
  readonly target: string;
  readonly result: string;
  readonly parameters: Readonly<Record<string, string>>;
}
const recorded = (target: string): Promise<Recorded[]> =>
  rows('SELECT * FROM service.console_actions WHERE target = $1 ORDER BY id', target);

/** Makes an order fail, so that it can be tried again and refunded. */
async function fail(): Promise<string> {
  const id = await filled.order();
  await rows(`UPDATE service.orders SET state = 'error', error = 'its plan failed' WHERE id = $1`, id);
  return id;
}
async function payout(sats = 1_000n): Promise<string> {
  const to = { script: Buffer.from(scriptOf(940)), address: addressOf(940) };
  return withTransaction(filled.shop.database.pool, (tx) =>
    insertPayout(tx, 'revenue', [{ account: 'service', owner: null, sats, ...to }]),
  );
}
async function collection(id: string): Promise<void> {
  server.contents.set(`/${id}.txt`, `the file of ${id}`);
  const files = [{ name: `${id}.txt`, url: server.url(`/${id}.txt`) }];
  await insertPending(filled.shop.database.pool, { id, totalCount: 1, files });
}
const collectionState = async (id: string) =>
  (await rows('SELECT state, reason FROM service.mint_collections WHERE id = $1', id))[0];

describe('an action that was confirmed is done once, and recorded', () => {
  const done = async (name: string, fields: Record<string, string>, target: string): Promise<string> => {
    const seen = await operator.confirmation(name, fields);
    const answer = await operator.confirm(name, seen);
    expect([answer.statusCode, /<h1>.*Done/u.test(answer.body)]).toEqual([200, true]);
    const [action, ...others] = await recorded(target);
    expect([action, others]).toMatchObject([{ account: 'alice', action: name, parameters: fields }, []]);
    // the same form again, as after a double click
    const again = await operator.confirm(name, seen);
    expect([again.statusCode, again.body.includes('The last action here')]).toEqual([409, true]);
    expect(again.body).toContain(action!.result.slice(0, 20));
    expect(await recorded(target)).toHaveLength(1);
    return action!.result;
  };

  test('tries an order again', async () => {
    const id = await fail();
    expect((await operator.get(`/console/orders/${id}`)).body).toContain('/console/actions/order-retry?id=');
    await done('order-retry', { id }, `order ${id}`);
    expect(await stateOf(id)).toBe('prep');
  });

  test('refunds an order to the typed address', async () => {
    const id = await fail();
    const to = addressOf(941);
    const asking = await operator.get(`/console/actions/order-refund?id=${id}`);
    expect(asking.body).toContain('name="to"');
    await done('order-refund', { id, to }, `order ${id}`);
    const script = Buffer.from(scriptOf(941));
    expect(await rows('SELECT state, refund_script FROM service.orders WHERE id = $1', id)).toEqual([
      { state: 'waiting-refund', refund_script: script },
    ]);
  });

  test('cancels an unpaid order', async () => {
    const id = await filled.order();
    await done('order-cancel', { id }, `order ${id}`);
    expect(
      await rows('SELECT cancel_asked_at IS NOT NULL AS asked FROM service.orders WHERE id = $1', id),
    ).toEqual([{ asked: true }]);
  });

  test('cancels a payout', async () => {
    const id = await payout();
    expect((await operator.get('/console/payouts')).body).toContain(`payout-cancel?id=${id}`);
    expect(await done('payout-cancel', { id }, `payout ${id}`)).toBe('The payout of 1000 sats is cancelled.');
    expect(await rows('SELECT state FROM service.payouts WHERE id = $1', id)).toEqual([
      { state: 'cancelled' },
    ]);
  });

  test('approves a collection with its files, and closes it', async () => {
    await collection('wanted');
    await done('mint-approve', { id: 'wanted' }, 'collection wanted');
    expect(await collectionState('wanted')).toMatchObject({ state: 'approved' });
    expect(await rows(`SELECT FROM service.mint_items WHERE collection = 'wanted'`)).toHaveLength(1);
    const fields = { id: 'wanted', reason: 'Its creator asked for it.' };
    const answer = await operator.confirm('mint-close', await operator.confirmation('mint-close', fields));
    expect(answer.statusCode).toBe(200);
    expect(await collectionState('wanted')).toEqual({ state: 'closed', reason: fields.reason });
  });

  test('names the price in a rune and its receiver before an approval', async () => {
    await collection('in-runes');
    const [priced] = await rows<{ account: string }>(
      `INSERT INTO service.mint_rune_prices (collection, account, etching, rune, name, divisibility, amount)
       SELECT 'in-runes', name, sha256('etching'), 7, 'GOOD•RUNE', 2, 12345 FROM service.accounts LIMIT 1
       RETURNING account`,
    );
    const shown = await operator.get('/console/actions/mint-approve?asked=yes&id=in-runes');
    expect(shown.body).toContain(`their sales pay GOOD•RUNE to the account ${priced?.account}`);
    expect(shown.body).toContain('123.45 GOOD•RUNE');
  });

  test('refuses a collection', async () => {
    await collection('unwanted');
    const fields = { id: 'unwanted', reason: 'The files are <b>not</b> yours.' };
    await done('mint-refuse', fields, 'collection unwanted');
    expect(await collectionState('unwanted')).toEqual({ state: 'refused', reason: fields.reason });
  });

  test('cuts a reason that is too long', async () => {
    await collection('wordy');
    const long = { id: 'wordy', reason: `${'x'.repeat(999)}😀` };
    const seen = await operator.confirmation('mint-refuse', long);
    expect((await operator.confirm('mint-refuse', seen)).statusCode).toBe(200);
    const reason = `${'x'.repeat(999)}\uFFFD`;
    expect(await collectionState('wordy')).toEqual({ state: 'refused', reason });
  });
});

describe('an action is refused, and changes nothing', () => {
  /** Sends a confirmation, and checks that the payout is as before. */
  async function refused(
    send: (id: string, seen: Record<string, string>) => ReturnType<Operator['confirm']>,
  ): Promise<{ status: number; body: string; records: Recorded[] }> {
    const id = await payout();
    const seen = await operator.confirmation('payout-cancel', { id });
    const answer = await send(id, seen);
    expect(await rows('SELECT state FROM service.payouts WHERE id = $1', id)).toEqual([{ state: 'asked' }]);
    return { status: answer.statusCode, body: answer.body, records: await recorded(`payout ${id}`) };
  }

  test.each([
    ['without a key, as with a stolen cookie', async () => '', 401, 'key_refused'],
    ['with a wrong key', async () => `${operator.key.slice(0, -1)}z`, 401, 'key_refused'],
    ['with the key of another account', () => filled.console.newKey('mallory'), 401, 'key_refused'],
    ['with a key without the scope', () => filled.console.newKey('shop', ['orders']), 403, 'key_scope'],
    [
      'with a revoked key',
      async () => {
        const key = await filled.console.newKey('former');
        await filled.console.revoke('former');
        return key;
      },
      401,
      'key_refused',
    ],
  ])('%s', async (_name, keyOf, expected, code) => {
    const key = await keyOf();
    const { status, body, records } = await refused((_id, seen) =>
      operator.confirm('payout-cancel', seen, key),
    );
    expect([status, body.includes('Nothing was done')]).toEqual([expected, true]);
    expect(records).toMatchObject([{ account: 'alice', parameters: { refused: code } }]);
    // the confirmation is shown again, without the key
    expect(body).toContain('name="seen"');
    if (key !== '') expect(body).not.toContain(key);
  });

  test('and does not make the confirmation of another operator old', async () => {
    const id = await payout();
    const seen = await operator.confirmation('payout-cancel', { id });
    await operator.confirm('payout-cancel', seen, 'satscribe_wrong');
    expect((await operator.confirm('payout-cancel', seen)).statusCode).toBe(200);
  });

  test('too many typed keys from one address have to wait', async () => {
    const id = await payout();
    const seen = await operator.confirmation('payout-cancel', { id });
    const type = (): ReturnType<Operator['confirm']> =>
      filled.console.form(
        '/console/actions/payout-cancel',
        { ...seen, key: 'x' },
        { cookie: operator.cookie },
        '192.0.2.7',
      );
    const statuses = [];
    for (let tries = 0; tries < 30; tries += 1) statuses.push((await type()).statusCode);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect((await recorded(`payout ${id}`)).length).toBe(statuses.filter((status) => status === 401).length);
  });

  test('if the state changed after it was shown, and the new state is shown', async () => {
    const id = await fail();
    const seen = await operator.confirmation('order-retry', { id });
    await rows(`UPDATE service.orders SET error = 'another fault' WHERE id = $1`, id);
    const answer = await operator.confirm('order-retry', seen);
    expect(answer.statusCode).toBe(409);
    expect(answer.body).toContain('Something changed after the confirmation was shown');
    expect(answer.body).toContain('another fault');
    expect([await stateOf(id), await recorded(`order ${id}`)]).toEqual(['error', []]);
  });

  test('if its values are others than the confirmed ones', async () => {
    const id = await fail();
    const seen = await operator.confirmation('order-refund', { id, to: addressOf(942) });
    const answer = await operator.confirm('order-refund', { ...seen, to: addressOf(943) });
    expect(answer.statusCode).toBe(409);
    const other = await fail();
    expect((await operator.confirm('order-refund', { ...seen, id: other })).statusCode).toBe(409);
    expect([await stateOf(id), await stateOf(other)]).toEqual(['error', 'error']);
  });

  test('if the address is not one that can be paid', async () => {
    const id = await fail();
    const own = await rows<{ address: string }>('SELECT address FROM service.orders WHERE id = $1', id);
    for (const to of ['nothing', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4']) {
      const { body } = await operator.get(`/console/actions/order-refund?id=${id}&to=${to}`);
      expect([body.includes('cannot be used'), body.includes(`value="${to}"`)]).toEqual([true, true]);
      expect(body).not.toContain('name="key"');
    }
    const seen = await operator.confirmation('order-refund', { id, to: own[0]!.address });
    const answer = await operator.confirm('order-refund', seen);
    expect([answer.statusCode, await stateOf(id)]).toEqual([409, 'error']);
    expect(answer.body).toContain('is an address of this service');
  });

  test('if the state does not allow it', async () => {
    const { statusCode, body } = await operator.get(
      `/console/actions/order-retry?id=${filled.orders.unpaid}`,
    );
    expect([statusCode, body.includes('cannot be tried again')]).toEqual([409, true]);
    for (const path of ['order-retry?id=x', `payout-cancel?id=${crypto.randomUUID()}`, 'mint-approve?id=x'])
      expect([path, (await operator.get(`/console/actions/${path}`)).body]).toEqual([
        path,
        expect.stringMatching(/There is no|No collection/u),
      ]);
    expect((await operator.get('/console/actions/other')).statusCode).toBe(404);
  });

  test.each([
    ['names another origin', { origin: 'https://evil.example' }, {}],
    ['comes from another site', { 'sec-fetch-site': 'cross-site' }, {}],
    ['lacks the token of the session', {}, { token: '' }],
  ])('if its form %s, and a page of the console says so', async (_name, headers, fields) => {
    const { status, body, records } = await refused((_id, seen) =>
      filled.console.form(
        '/console/actions/payout-cancel',
        { ...seen, key: operator.key, ...fields },
        { cookie: operator.cookie, ...headers },
      ),
    );
    expect([status, records]).toEqual([403, []]);
    expect(body).toContain('<body class="console">');
    expect(body).toContain('nothing was done');
  });

  test('if it is asked for with GET', async () => {
    const id = await payout();
    const seen = await operator.confirmation('payout-cancel', { id });
    const query = new URLSearchParams({ ...seen, key: operator.key }).toString();
    const answer = await operator.get(`/console/actions/payout-cancel?${query}`);
    expect(answer.body).toContain('name="seen"');
    expect(await rows('SELECT state FROM service.payouts WHERE id = $1', id)).toEqual([{ state: 'asked' }]);
  });
});

test('of two operators with the same action the second is refused with what the first did', async () => {
  const other = await filled.console.signIn(await filled.console.newKey('bob'));
  const id = await fail();
  const fields = { id, to: addressOf(944) };
  const forms = [
    await operator.confirmation('order-refund', fields),
    await other.confirmation('order-refund', fields),
  ];
  const answers = await Promise.all([
    operator.confirm('order-refund', forms[0]!),
    other.confirm('order-refund', forms[1]!),
  ]);
  expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([200, 409]);
  const [first, ...more] = await recorded(`order ${id}`);
  expect(more).toEqual([]);
  const { body } = answers.find(({ statusCode }) => statusCode === 409)!;
  expect(body).toContain(`UTC, ${first!.account} (`);
  expect(body).toContain(`A refund to ${fields.to} is asked for.`);
});

test('a session that ended before the confirmation does nothing, and its values are shown after signing in', async () => {
  const key = await filled.console.newKey('late');
  const late = await filled.console.signIn(key);
  const id = await fail();
  const fields = { id, to: addressOf(945) };
  const seen = await late.confirmation('order-refund', fields);
  await rows(`UPDATE service.console_sessions SET ended_at = now()
    WHERE key_id = (SELECT id FROM service.keys WHERE account = 'late')`);
  const answer = await late.confirm('order-refund', seen);
  expect([answer.statusCode, await stateOf(id)]).toEqual([401, 'error']);
  expect(answer.body).not.toContain(key);
  const to = /name="to" value="(?<to>[^"]+)"/u.exec(answer.body)?.groups?.['to']?.replaceAll('&amp;', '&');
  const again = await filled.console.form('/console/sign-in', { key, to: to! });
  expect(again.headers.location).toBe(to);
  const page = await (await filled.console.signIn(key)).get(to!);
  expect(page.body).toContain(`name="to" value="${fields.to}"`);
  expect(page.body).toContain('name="seen"');
  expect(await recorded(`order ${id}`)).toEqual([]);
});

test('an audit runs beside the page, one at a time, and is recorded', async () => {
  const first = await operator.form('/console/audit/run', {});
  expect(first.body).toContain('The audit has begun');
  expect((await operator.form('/console/audit/run', {})).body).toContain('An audit runs already');
  filled.endAudit();
  await waitUntil(async () => (await operator.get('/console/audit')).body.includes('payment (2)'), {
    limitMs: 10_000,
  });
  await waitUntil(async () => (await recorded('all orders'))[0]?.result !== null, { limitMs: 10_000 });
  expect(await recorded('all orders')).toMatchObject([
    {
      account: 'alice',
      action: 'audit',
      result: expect.stringContaining('3 orders were compared') as string,
    },
  ]);
});

test('the overview shows the budgets of bumps and the money of late payments', async () => {
  const { body } = await operator.get('/console');
  expect(body).toContain('0 of at most 1000000');
  expect(body).toContain('no customer is owed money');
});

test('the overview names payments that are on hold after a restore, until they are released', async () => {
  const { pool } = filled.shop.database;
  const isNamed = async (): Promise<boolean> =>
    (await operator.get('/console')).body.includes('satscribe payouts release');
  expect(await isNamed()).toBe(false);
  const id = await payout();
  const cancelled = (isNotPaid: boolean): Promise<void> =>
    cancelPayout(pool, id, async () => undefined, isNotPaid);
  const hold = { backupAt: new Date(), height: null, ends: { orders: 0, own: 0, fees: 0 } };
  await withTransaction(pool, (tx) => beginHold(tx, hold));
  try {
    expect(await isNamed()).toBe(true);
    // a payout that was paid after the backup would be owed again
    await expect(cancelled(false)).rejects.toMatchObject({ code: 'restored_on_hold' });
    const { body } = await operator.get(`/console/actions/payout-cancel?asked=yes&id=${id}`);
    expect(body).toContain(`satscribe payouts cancel ${id} --not-paid`);
    await cancelled(true);
    expect(await rows('SELECT state FROM service.payouts WHERE id = $1', id)).toEqual([
      { state: 'cancelled' },
    ]);
  } finally {
    await withTransaction(pool, (tx) => endHold(tx, { booked: 0, released: 0 }));
  }
  expect(await isNamed()).toBe(false);
});
