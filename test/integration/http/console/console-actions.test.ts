import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { ConsoleApp, type Operator } from '#test/support/http/console-app.ts';
import { putWebhooksOf } from '#webhooks/outbox.ts';

let own: ConsoleApp;
let operator: Operator;
beforeAll(async () => {
  own = await ConsoleApp.start();
  operator = await own.signIn(await own.newKey('operator'));
});
afterAll(() => own.close());

const subject = 'order 6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
const path = '/console/webhooks/replay';

/** Leaves two messages about the subject in the outbox, both given up. */
async function giveUp(): Promise<void> {
  const { pool } = own.database;
  await pool.query('DELETE FROM service.webhooks');
  await withTransaction(pool, (tx) =>
    putWebhooksOf(tx, [{ subject, url: 'https://hooks.example/token', bodies: [{ a: 1 }, { a: 2 }] }]),
  );
  await pool.query(`UPDATE service.webhooks SET state = 'given-up', tries = 9`);
}

const states = async (): Promise<string[]> =>
  (await own.database.pool.query<{ state: string }>('SELECT DISTINCT state FROM service.webhooks')).rows.map(
    ({ state }) => state,
  );
const recorded = async (): Promise<unknown[]> =>
  (
    await own.database.pool.query<Record<string, string>>(
      'SELECT account, key_prefix, action, target, result FROM service.console_actions ORDER BY id',
    )
  ).rows;

test('messages of a subject are sent again, and who did it is recorded', async () => {
  await giveUp();
  const list = await operator.get(`/console/webhooks?subject=${encodeURIComponent(subject)}`);
  expect(list.body).toContain('Send all of them again');
  const answer = await operator.form(path, { subject });
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toContain('2 messages will be sent again');
  expect(await states()).toEqual(['waiting']);
  expect(await recorded()).toEqual([
    {
      account: 'operator',
      key_prefix: operator.key.slice(0, 18),
      action: 'webhooks-replay',
      target: subject,
      result: '2 messages will be sent again.',
    },
  ]);
  expect((await operator.get('/console/sessions')).body).toContain(subject);
});

test('a form that is refused sends and records nothing', async () => {
  const before = await recorded();
  await giveUp();
  const foreign = await operator.form(path, { subject }, { origin: 'https://evil.example' });
  const forged = await operator.form(path, { subject, token: 'x' });
  const unknown = await operator.form(path, { subject: 'order x' });
  const missing = await operator.form(path, {});
  expect([foreign, forged, unknown, missing].map(({ statusCode }) => statusCode)).toEqual([
    403, 403, 404, 404,
  ]);
  expect(unknown.body).toContain('nothing is sent again');
  expect((await operator.get(path)).statusCode).toBe(405);
  expect(await states()).toEqual(['given-up']);
  expect(await recorded()).toEqual(before);
});

test('a session that ended before the form arrived does nothing, and leads back after signing in', async () => {
  const before = await recorded();
  await giveUp();
  const late = await own.signIn(await own.newKey('late'));
  const token = await late.token();
  await own.revoke('late');
  const answer = await late.form(path, { subject, token });
  expect(answer.statusCode).toBe(401);
  expect(answer.body).toContain('nothing was done');
  expect(answer.body).toContain('name="to" value="/console/webhooks?subject=order+6f1c2b1e');
  expect(await states()).toEqual(['given-up']);
  expect(await recorded()).toEqual(before);
});
