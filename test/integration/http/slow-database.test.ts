import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';

let http: HttpApp;
beforeAll(async () => {
  http = await createHttpApp([]);
  const { pool } = http.database;
  await pool.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 200', current_database()); END $$`,
  );
  // those that are open have no limit yet
  while (pool.idleCount > 0) (await pool.connect()).release(true);
});
afterAll(() => http.close());

test('a question that takes the database too long is 504 with words of its own, on every kind of path', async () => {
  const { app, database } = http;
  const locker = await database.pool.connect();
  await locker.query('SET statement_timeout = 0');
  await locker.query(
    'BEGIN; LOCK TABLE chain.inscriptions, chain.blocks, chain.state IN ACCESS EXCLUSIVE MODE',
  );
  try {
    const reason = 'the database takes too long for this answer: ask for less at once';
    for (const url of ['/search?text=a', '/inscription/0', '/blockheight', `/content/${'a'.repeat(64)}i0`]) {
      const answer = await app.inject({ url, headers: { accept: 'application/json' } });
      expect(answer.statusCode, url).toBe(504);
      expect(answer.body, url).toContain(reason);
      expect(answer.headers['cache-control'], url).toBe('no-store');
    }
  } finally {
    await locker.query('ROLLBACK');
    locker.release();
  }
  // and is no reason to be asked for later once the database has time again
  expect((await app.inject('/search?text=a')).statusCode).toBe(200);
});
