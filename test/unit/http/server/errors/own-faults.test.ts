import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { createRoutesApp } from '#test/support/http/routes-app.ts';

let app: App;

beforeAll(async () => {
  app = createRoutesApp();
  await app.ready();
}, 120_000);

afterAll(async () => {
  await app.close();
});

test.each([
  ['/search/facets?text=', 'text'],
  [`/search/facets?text=${'a,'.repeat(33)}`, 'text'],
  ['/search/facets?words=1&text=...', 'text'],
  ['/search/facets?text=a&trait=Hat', 'trait'],
  ['/search/facets?text=a&title=', 'title'],
  ['/search/facets?text=a&words=1&phrase=1', 'phrase'],
  [`/search/facets?hash=${'ab'.repeat(32)}&words=1`, 'words'],
  [`/search/facets?text=a&hash=${'ab'.repeat(32)}`, 'hash'],
  ['/search/facets?text=a&contentType=*', 'contentType'],
  ['/inscription/0/transfers', 'query'],
])('%s names the parameter at fault', async (url, parameter) => {
  const answer = await app.inject(url);
  expect([answer.statusCode, answer.json<{ parameter?: string }>().parameter]).toEqual([400, parameter]);
});

test.each([
  ['a field', { method: 'POST', url: '/search/hashes', payload: { hashes: [], ['x'.repeat(500_000)]: 1 } }],
  ['a parameter', { method: 'GET', url: `/mempool?${'x'.repeat(30_000)}=1` }],
] as const)('the name of %s that is unknown is shortened in the answer', async (_name, asked) => {
  const answer = await app.inject(asked);
  const { parameter, error } = answer.json<{ parameter: string; error: string }>();
  expect([answer.statusCode, parameter]).toEqual([400, `${'x'.repeat(40)}…`]);
  expect(error.length).toBeLessThan(200);
});

test('an unknown field is named as it was written', async () => {
  const payload = { hashes: [], 'a/b~c': 1 };
  const answer = await app.inject({ method: 'POST', url: '/search/hashes', payload });
  expect(answer.json<{ parameter: string }>().parameter).toBe('a/b~c');
});
