import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { whileLocked } from '#test/support/postgres/locked-tables.ts';

let http: HttpApp;
beforeAll(async () => {
  http = await createHttpApp([]);
  const { readers } = http.database;
  readers.on('connect', (client) => void client.query('SET statement_timeout = 200'));
  // connections that are already open have another limit
  while (readers.idleCount > 0) (await readers.connect()).release(true);
});
afterAll(() => http.close());

test('too slow a question for the database is 504 with its own message, on every kind of path', async () => {
  const { app, database } = http;
  await whileLocked(database, 'chain.inscriptions, chain.blocks, chain.state', async () => {
    const reason = 'the database takes too long for this answer; request less at once';
    const long = `/search?text=a&ignored=${'x'.repeat(32_000)}`;
    for (const url of [
      '/search?text=a',
      long,
      '/inscription/0',
      '/blockheight',
      `/content/${'a'.repeat(64)}i0`,
    ]) {
      const answer = await app.inject({ url, headers: { accept: 'application/json' } });
      expect(answer.statusCode, url).toBe(504);
      expect(answer.body, url).toContain(reason);
      expect(answer.headers['cache-control'], url).toBe('no-store');
    }
    // the log has each failure, but it does not have 32 kB from a client
    const failed = http.logged.filter(({ msg }) => msg === 'request failed');
    expect(failed).toHaveLength(5);
    for (const line of failed) expect(JSON.stringify(line).length).toBeLessThan(6_000);
    expect(failed.some(({ url }) => String(url).startsWith('/search?text=a&ignored=xxx'))).toBe(true);
  });
  // this is also no reason to delay requests when the database has time again
  expect((await app.inject('/search?text=a')).statusCode).toBe(200);
});
