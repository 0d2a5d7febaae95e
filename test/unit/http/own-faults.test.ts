import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '#http/server/app-dependencies.ts';
import { createRoutesApp } from '#test/support/routes-app.ts';

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
