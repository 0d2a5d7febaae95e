import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Scope, scopes } from '#accounts/api-key.ts';
import type { Admission } from '#accounts/search-access.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { giveKey, type TestAccess, testAccess } from '#test/support/http/search-access.ts';

let database: TestDatabase;
let given: TestAccess;
/** Keys that have only one scope each. */
const keys = new Map<Scope, string>();

beforeAll(async () => {
  database = await createTestDatabase();
  given = testAccess(database.pool, { mode: 'open', domains: 'shop.example' });
  for (const scope of scopes) {
    keys.set(scope, (await giveKey(database.pool, { scopes: [scope] })).key);
  }
});
afterAll(async () => {
  await given.close();
  await database.drop();
});

const ask = (scope: Scope, apiKey: string | undefined, origin?: string): Promise<Admission> =>
  given.access.decide({
    scope,
    asker: 'program',
    endpoints: 'test',
    bucket: 'search',
    apiKey,
    authorization: undefined,
    cookie: undefined,
    origin,
    referer: undefined,
    fetchSite: origin === undefined ? 'same-origin' : undefined,
    host: 'ord.example',
    address: '192.0.2.1',
  });

test.each(scopes.filter((scope) => scope !== 'search'))(
  'the scope %s needs a key that has it, even if searches are open and for pages that may search',
  async (scope) => {
    expect((await ask(scope, keys.get(scope))).refusal).toBeNull();
    for (const other of scopes.filter((one) => one !== scope)) {
      expect((await ask(scope, keys.get(other))).refusal).toMatchObject({ code: 'key_scope' });
    }
    expect((await ask(scope, undefined)).refusal).toMatchObject({ code: 'key_missing' });
    expect((await ask(scope, undefined, 'https://shop.example')).refusal).toMatchObject({
      code: 'key_missing',
    });
  },
);

test('an open search takes a key of any scope or none', async () => {
  for (const key of [...keys.values(), undefined]) expect((await ask('search', key)).refusal).toBeNull();
});
