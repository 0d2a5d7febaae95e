import { afterAll, beforeAll, expect, test } from 'vitest';
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
