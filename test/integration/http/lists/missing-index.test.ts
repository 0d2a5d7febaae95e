import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { networks } from '#kernel/primitives/network.ts';
import { ownerScript, writeListedRows } from '#test/support/chain/rows/listed-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';

let database: TestDatabase;
let app: App;

beforeAll(async () => {
  database = await createTestDatabase();
  const { pool, readers } = database;
  await writeListedRows(pool, { count: 24_000, perBlock: 100 });
  app = buildCheckedApp(readerParts(readers));
  await app.ready();
});

afterAll(async () => {
  await app.close();
  await database.drop();
});

test('after an upgrade, a list of cursed inscriptions is 503 until its index is built', async () => {
  const client = await database.pool.connect();
  const list = (query: string, accept = 'application/json') =>
    app.inject({ url: `/inscriptions?${query}`, headers: { accept } });
  try {
    await client.query('DROP INDEX chain.inscriptions_curse');
    const refused = await list('cursed=true');
    expect(refused.statusCode).toBe(503);
    expect(refused.headers['retry-after']).toBe('2');
    expect(refused.json()).toEqual({
      status: 'error',
      reason: expect.stringContaining('still being built') as string,
    });
    const page = await list('cursed=true', 'text/html');
    expect([page.statusCode, page.body]).toEqual([503, expect.stringContaining('still being built')]);
    expect((await list('cursed=true&from=0&to=40')).json<{ ids: string[] }>().ids).toHaveLength(100);
    expect((await list('cursed=false')).statusCode).toBe(200);
    await ensureSecondaryIndexes(client);
    expect((await list('cursed=true')).json<{ ids: string[] }>().ids).toHaveLength(100);
  } finally {
    client.release();
  }
});

test.each([
  ['locations_owner', ['/address', '/outputs?type=inscribed']],
  ['locations_outpoint', ['/outputs', '/outputs?type=inscribed', '/outputs?limit=10']],
  ['outputs_script', ['/address', '/outputs', '/outputs?type=any', '/outputs?limit=10']],
])('during a first sync an address is 503 with the indexed height: %s is missing', async (index, asked) => {
  const client = await database.pool.connect();
  const ask = (url: string, accept = 'application/json') => app.inject({ url, headers: { accept } });
  const owner = scriptToAddress(ownerScript(77), networks.regtest);
  const paths = asked.map((path) => path.replace(/^\/\w+/u, (start) => `${start}/${owner}`));
  const statuses = async () => Promise.all(paths.map(async (path) => (await ask(path)).statusCode));
  try {
    await client.query(
      `INSERT INTO chain.derived_tables (name, from_height, is_followed) VALUES ('outputs', 0, true)`,
    );
    expect(new Set(await statuses())).toEqual(new Set([200]));
    await client.query(`DROP INDEX chain.${index}`);
    for (const path of paths) {
      const refused = await ask(path);
      expect([path, refused.statusCode, refused.headers['retry-after']]).toEqual([path, 503, '2']);
      expect(refused.json()).toEqual({
        status: 'error',
        reason:
          'the index of owners is still being built (blocks are indexed up to height 239); try again later',
      });
    }
    if (asked.includes('/address')) {
      const page = await ask(`/address/${owner}`, 'text/html');
      expect([page.statusCode, page.body]).toEqual([503, expect.stringContaining('still being built')]);
    }
  } finally {
    await client.query(`DELETE FROM chain.derived_tables WHERE name = 'outputs'`);
    await ensureSecondaryIndexes(client);
    client.release();
  }
});
