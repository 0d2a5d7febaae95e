import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHttpApp, type HttpApp } from '#test/support/http-app.ts';
import { whileLocked } from '#test/support/postgres/locked-tables.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let http: HttpApp;
let address: string;
beforeAll(async () => {
  http = await createHttpApp([{ height: 0, rows: [{ name: 'a', body: 'hello' }] }]);
  address = await http.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => http.close());

/** Number of connections that read for responses. They have their own role. */
async function readers(): Promise<number> {
  const { rows } = await http.database.pool.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM pg_stat_activity
     WHERE datname = current_database() AND usename <> current_user`,
  );
  return rows[0]?.count ?? 0;
}

async function waiting(): Promise<number> {
  const { rows } = await http.database.pool.query<{ count: number }>(
    `SELECT count(DISTINCT l.pid) AS count FROM pg_locks l JOIN pg_database d ON d.oid = l.database
     WHERE d.datname = current_database() AND NOT l.granted`,
  );
  return rows[0]?.count ?? 0;
}

test('the first page is shown to others if its first visitor leaves before the selection was made', async () => {
  // while the selection is being made, the service reads only for the selection
  await whileLocked(http.database, 'chain.inscriptions', async (unlock) => {
    const first = new AbortController();
    const gone = fetch(address, { signal: first.signal }).catch(() => null);
    await waitUntil(async () => (await waiting()) === 1);
    const second = fetch(address);
    // one connection for each page, and one for the selection
    await waitUntil(async () => (await readers()) === 3);
    first.abort();
    await gone;
    // the connection of the disconnected visitor is closed
    await waitUntil(async () => (await readers()) === 2);
    await unlock();
    expect((await second).status).toBe(200);
  });
  expect(http.logged.filter(({ msg }) => msg === 'request failed')).toEqual([]);
});
