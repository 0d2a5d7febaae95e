import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConsoleApp } from '#test/support/http/console-app.ts';

let own: ConsoleApp;
beforeAll(async () => {
  own = await ConsoleApp.start();
});
afterAll(() => own.close());

const sessions = async (): Promise<number> => {
  const { rows } = await own.database.pool.query<{ count: number }>(
    'SELECT count(*) AS count FROM service.console_sessions WHERE ended_at IS NULL',
  );
  return rows[0]?.count ?? 0;
};

/** Moves times of all sessions into the past. */
const age = (column: 'used_at' | 'created_at', minutes: number): Promise<unknown> =>
  own.database.pool.query(
    `UPDATE service.console_sessions SET ${column} = ${column} - interval '${minutes} minutes'`,
  );

describe('signing in', () => {
  test('a key with the scope admin opens a session, in a cookie that only the console receives', async () => {
    const key = await own.newKey('opens');
    const answer = await own.form('/console/sign-in', { key, to: '/console/sessions' });
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe('/console/sessions');
    expect(answer.headers['set-cookie']).toMatch(
      /^satscribe_console=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict$/u,
    );
    const page = await (await own.signIn(key)).get('/console/sessions');
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('opens');
    expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'same-origin' });
    expect(String(page.headers['content-security-policy'])).toContain("frame-ancestors 'none'");
    expect(page.headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('the database knows neither the secret of the cookie nor the token of the forms', async () => {
    const operator = await own.signIn(await own.newKey('secret'));
    const { rows } = await own.database.pool.query<{ row: string }>(
      'SELECT s::text || encode(hash, $1) AS row FROM service.console_sessions AS s',
      ['base64'],
    );
    const stored = rows.map(({ row }) => row).join('\n');
    expect(stored).not.toContain(operator.cookie.split('=')[1]);
    expect(stored).not.toContain(await operator.token());
  });

  test.each([
    ['a mistyped key', async () => `${(await own.newKey('typo')).slice(0, -1)}z`, 401, /complete key/u],
    ['no key', async () => '', 401, /complete key/u],
    ['a key without the scope', () => own.newKey('shop', ['orders']), 403, /for orders.*scope admin/u],
    [
      'a revoked key',
      async () => {
        const key = await own.newKey('gone');
        await own.revoke('gone');
        return key;
      },
      401,
      /unknown here, or it was revoked/u,
    ],
  ])('%s opens none, and the page says why', async (_name, keyOf, status, words) => {
    const key = await keyOf();
    const before = await sessions();
    const answer = await own.form('/console/sign-in', { key, to: '/console/orders?state=error' });
    expect(answer.statusCode).toBe(status);
    expect(answer.body).toMatch(words);
    expect(answer.body).toContain('value="/console/orders?state=error"');
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(await sessions()).toBe(before);
  });

  test('too many typed keys from one address have to wait', async () => {
    const key = await own.newKey('patient');
    const tried = (): Promise<{ statusCode: number; body: string }> =>
      own.form('/console/sign-in', { key: 'satscribe_00' }, {}, '192.0.2.1');
    const answers = [];
    for (let tries = 0; tries < 30; tries += 1) answers.push((await tried()).statusCode);
    expect(new Set(answers)).toEqual(new Set([401, 429]));
    expect((await tried()).body).toMatch(/Try again in \d+ s/u);
    expect((await own.form('/console/sign-in', { key }, {}, '192.0.2.1')).statusCode).toBe(429);
    expect((await own.form('/console/sign-in', { key }, {}, '192.0.2.2')).statusCode).toBe(303);
  });

  test.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/console\r\nX: y',
    '/order',
    '/consolex',
  ])('no redirect leads to %s', async (to) => {
    const key = await own.newKey('redirected');
    const answer = await own.form('/console/sign-in', { key, to });
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/console']);
  });
});

describe('a session', () => {
  test('without one each page asks for the key, and keeps the path', async () => {
    for (const path of ['/console', '/console/sessions']) {
      const answer = await own.app.inject({ url: path });
      expect(answer.statusCode).toBe(401);
      expect(answer.body).toContain(`name="to" value="${path}"`);
    }
  });

  test.each([
    ['half an hour without a request', () => age('used_at', 31)],
    ['eight hours', () => age('created_at', 8 * 60 + 1)],
    ['the revocation of its key', () => own.revoke('ending')],
  ])('ends after %s', async (_name, end) => {
    const operator = await own.signIn(await own.newKey('ending'));
    expect((await operator.get('/console')).statusCode).toBe(200);
    await end();
    expect((await operator.get('/console')).statusCode).toBe(401);
  });

  test('is used on by each request', async () => {
    const operator = await own.signIn(await own.newKey('busy'));
    for (let times = 0; times < 3; times += 1) {
      await age('used_at', 20);
      expect((await operator.get('/console')).statusCode).toBe(200);
    }
  });

  test('signs out, alone', async () => {
    const key = await own.newKey('leaves');
    const [one, other] = [await own.signIn(key), await own.signIn(key)];
    const answer = await one.form('/console/sign-out', {});
    expect(answer.statusCode).toBe(303);
    expect(answer.headers['set-cookie']).toContain('Max-Age=0');
    expect((await one.get('/console')).statusCode).toBe(401);
    expect((await other.get('/console')).statusCode).toBe(200);
  });

  test('ends with all others', async () => {
    const one = await own.signIn(await own.newKey('first'));
    const other = await own.signIn(await own.newKey('second'));
    const answer = await one.form('/console/sessions/end-all', {});
    expect(answer.body).toMatch(/sessions have ended/u);
    expect((await one.get('/console')).statusCode).toBe(401);
    expect((await other.get('/console')).statusCode).toBe(401);
    const { rows } = await own.database.pool.query<{ account: string; result: string }>(
      "SELECT account, result FROM service.console_actions WHERE action = 'sessions-end-all'",
    );
    expect(rows).toEqual([
      { account: 'first', result: expect.stringMatching(/^\d+ sessions ended\.$/u) as string },
    ]);
  });
});

describe('a form of another origin', () => {
  test.each([
    ['names its origin', { origin: 'https://evil.example' }],
    ['hides its origin', { origin: 'null' }],
    ['comes from a sibling site', { 'sec-fetch-site': 'same-site' }],
    ['comes from another site', { 'sec-fetch-site': 'cross-site', origin: null }],
    ['states nothing', { 'sec-fetch-site': null, origin: null }],
  ])('changes nothing if it %s', async (_name, headers) => {
    const key = await own.newKey('victim');
    const operator = await own.signIn(key);
    const before = await sessions();
    const answer = await operator.form('/console/sessions/end-all', {}, headers);
    expect(answer.statusCode).toBe(403);
    expect(answer.body).toContain('nothing was done');
    expect((await own.form('/console/sign-in', { key }, headers)).statusCode).toBe(403);
    expect(await sessions()).toBe(before);
  });

  test('is taken over plain http, where browsers state only the origin', async () => {
    const operator = await own.signIn(await own.newKey('plain'));
    const answer = await operator.form('/console/sign-out', {}, { 'sec-fetch-site': null });
    expect(answer.statusCode).toBe(303);
  });

  test('needs the token of the same session', async () => {
    const operator = await own.signIn(await own.newKey('one'));
    const other = await own.signIn(await own.newKey('two'));
    for (const token of ['', 'x', await other.token()]) {
      const answer = await operator.form('/console/sign-out', { token });
      expect(answer.statusCode).toBe(403);
      expect(answer.body).toContain('another session');
    }
    expect((await operator.get('/console')).statusCode).toBe(200);
  });
});

test('other pages neither have the console nor receive its cookie path', async () => {
  const { app } = own;
  expect((await app.inject({ url: '/console', headers: { cookie: 'satscribe_console=x' } })).statusCode).toBe(
    401,
  );
  expect((await app.inject({ method: 'DELETE', url: '/console' })).statusCode).toBe(405);
});
