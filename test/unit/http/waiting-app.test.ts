import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildWaitingApp } from '#http/waiting-app.ts';
import { silentLogger } from '#test/support/http-app.ts';

const app = buildWaitingApp({ logger: silentLogger(), problems: () => [] });

beforeAll(async () => {
  await app.ready();
});

afterAll(async () => {
  await app.close();
});

test.each([
  [
    'a body that is not JSON',
    { method: 'POST', payload: '{', headers: { 'content-type': 'application/json' } },
  ],
  [
    'a large body',
    { method: 'POST', payload: 'x'.repeat(2_000_000), headers: { 'content-type': 'text/csv' } },
  ],
  ['a path that cannot be decoded', { url: '/%ff' }],
  ['any path', { url: '/status' }],
] as const)('says to %s that the service is starting', async (_name, asked) => {
  const answer = await app.inject({ url: '/search/hashes', ...asked });
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
  expect(answer.headers['access-control-allow-origin']).toBe('*');
  expect(answer.json()).toEqual({
    status: 'error',
    reason: 'This service is starting.',
    reasons: [],
    height: null,
  });
});

test('is alive', async () => {
  const answer = await app.inject('/health/live');
  expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }]);
});

describe('a browser', () => {
  const browser = { accept: 'text/html,application/xhtml+xml' };

  test('gets a page that reloads by itself', async () => {
    const answer = await app.inject({ url: '/inscriptions', headers: browser });
    expect([answer.statusCode, answer.headers['retry-after'], answer.headers['refresh']]).toEqual([
      503,
      '3',
      '3',
    ]);
    expect(answer.headers['content-type']).toContain('text/html');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toContain('<h1>Satscribe is starting</h1>');
    const [style] = /\/assets\/[^"]+\.css/u.exec(answer.body) ?? [];
    const sheet = await app.inject(style ?? '');
    expect([sheet.statusCode, sheet.headers['cache-control']]).toEqual([200, 'no-store']);
  });

  test('gets what is missing and what to do', async () => {
    const message = 'The node at <there> does not answer.';
    const problems = () => [{ code: 'node_unreachable', message, since: new Date() }] as const;
    const waiting = buildWaitingApp({ logger: silentLogger(), problems });
    const answer = await waiting.inject({ url: '/', headers: browser });
    await waiting.close();
    expect(answer.body).toContain('<h1>Satscribe is waiting</h1>');
    expect(answer.body).toContain('The node at &lt;there&gt; does not answer.');
    expect(answer.body).toContain('What to do: Start the node');
  });
});
