import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DataDir, makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { runCli } from '#test/support/run-cli.ts';

let database: TestDatabase;
let data: DataDir;
let server: Server;
let served = '';

beforeAll(async () => {
  database = await createTestDatabase();
  data = await makeDataDir();
  server = createServer((request, response) => {
    const url = request.url?.replace('Odd%20Ponds', 'ponds');
    if (url === '/lists/ponds/meta.json') response.end(JSON.stringify({ name: 'Ponds' }));
    else if (url === '/lists/ponds/inscriptions.json') response.end(served);
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
});
afterAll(async () => {
  server.close();
  await database.drop();
  await data.remove();
});

const cli = (words: readonly string[], env: Record<string, string> = {}) =>
  runCli(['collections', ...words], { ...database.settings, DATA_DIR: data.path, ...env });
const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${'cd'.repeat(32)}i${index}`);
async function folder(
  name: string,
  items: readonly object[],
  meta: object = { name: 'Frogs' },
): Promise<string> {
  const path = join(data.path, name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, 'meta.json'), JSON.stringify(meta));
  await writeFile(join(path, 'inscriptions.json'), JSON.stringify(items));
  return path;
}
const stored = async (slug: string) =>
  (
    await database.pool.query('SELECT index, name FROM service.market_items WHERE slug = $1 ORDER BY place', [
      slug,
    ])
  ).rows as { index: number; name: string | null }[];

test('where nothing is listed, a sentence says so, and what to do', async () => {
  const empty = await cli(['list', '--after', 'zzz']);
  expect(empty.stdout).toBe(
    'No collection comes after zzz. See all collections with satscribe collections list\n',
  );
  expect(JSON.parse((await cli(['list', '--after', 'zzz', '--json'])).stdout)).toEqual([]);
});

test('a folder is imported, the same again changes nothing, and another list replaces it', async () => {
  const [first, second] = ids(2);
  const path = await folder('frogs', [{ id: first, meta: { name: 'Frog' } }, { id: second }, { id: first }]);
  const added = await cli(['import', path, '--json']);
  expect(JSON.parse(added.stdout)).toEqual({
    slug: 'frogs',
    name: 'Frogs',
    result: 'added',
    items: 2,
    doubles: 1,
    notIndexed: 2,
  });
  expect(await stored('frogs')).toEqual([
    { index: 0, name: 'Frog' },
    { index: 1, name: null },
  ]);
  expect((await cli(['import', path])).stdout).toBe(
    'unchanged frogs (Frogs): 2 items, 1 named twice, 2 not indexed yet\n',
  );
  await folder('frogs', [{ id: second, meta: { name: 'Toad' } }]);
  expect((await cli(['import', path])).stdout).toMatch(/^replaced frogs/u);
  expect(await stored('frogs')).toEqual([{ index: 1, name: 'Toad' }]);
  expect(JSON.parse((await cli(['show', 'frogs', '--json'])).stdout)).toMatchObject({
    items: 1,
    notIndexed: 1,
  });
  expect((await cli(['list'])).stdout).toMatch(/^frogs +1 items .* Frogs$/mu);
  expect((await cli(['remove', 'frogs'])).stdout).toBe('removed frogs\n');
  expect(await stored('frogs')).toEqual([]);
  const again = await cli(['remove', 'frogs']);
  expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('collection_unknown')]);
});

test('traits are stored with the places of their items, and a list that was stored without them is stored again', async () => {
  const attributes = (...values: unknown[]): object[] =>
    values.map((value, nth) => ({ trait_type: ['Sky', 'Moons', 'Ring'][nth], value }));
  const [one, two, three] = ids(3).map((id, nth) => ({
    id,
    meta: { attributes: [attributes('Dawn', 3, true), attributes(' Dusk ', 3), attributes('Dawn')][nth] },
  }));
  const path = await folder('skies', [one!, two!, three!]);
  expect((await cli(['import', path])).stdout).toMatch(/^added skies/u);
  const traits = async () => {
    const { rows } = await database.pool.query<{ shown: string }>(
      `SELECT name || '=' || value || ' ' || name_rank || value_rank || ' ' || encode(places, 'hex') AS shown
       FROM service.market_traits WHERE slug = 'skies' ORDER BY name_rank, value_rank`,
    );
    return rows.map(({ shown }) => shown);
  };
  const all = [
    'Sky=Dawn 00 0000000000000002',
    'Sky=Dusk 01 00000001',
    'Moons=3 10 0000000000000001',
    'Ring=true 20 00000000',
  ];
  expect(await traits()).toEqual(all);
  expect((await cli(['import', path])).stdout).toMatch(/^unchanged skies/u);

  await folder('skies', [{ ...one!, meta: {} }, two!, three!]);
  expect((await cli(['import', path])).stdout).toMatch(/^replaced skies/u);
  expect(await traits()).toEqual(['Sky=Dawn 00 00000002', 'Sky=Dusk 01 00000001', 'Moons=3 10 00000001']);
  await cli(['remove', 'skies']);
  expect(await traits()).toEqual([]);
});

test('100,000 items are imported at once', { tags: ['proof'] }, async () => {
  const path = await folder(
    'many',
    ids(100_000).map((id) => ({ id })),
  );
  expect((await cli(['import', path])).stdout).toMatch(/^added many \(Frogs\): 100000 items/u);
  expect(await stored('many')).toHaveLength(100_000);
});

test('what is refused changes nothing', { tags: ['proof'] }, async () => {
  const [first] = ids(1);
  const good = await folder('kept', [{ id: first }]);
  await cli(['import', good]);
  const refused = async (path: string, message: RegExp): Promise<void> => {
    const { exitCode, stderr } = await cli(['import', path]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(message);
  };
  await refused(await folder('kept', [{ id: first }, { id: 'x' }]), /collection_invalid/u);
  const large = await folder('large', []);
  await truncate(join(large, 'inscriptions.json'), 1e9);
  await refused(large, /more than 268435456 bytes/u);
  await refused(await folder('..up', [], { slug: '..' }), /meta\.json, name: a collection needs a name/u);
  await refused(
    await folder('蛙', [{ id: 'x' }, { id: first }, {}], { slug: '..' }),
    /meta\.json, slug: .*a slug has.*\n.*meta\.json, name: a.*\n.*item 1: its id.*\n.*item 3: its id/u,
  );
  await refused(
    join(data.path, 'nowhere'),
    /meta\.json cannot be read, because ENOENT.*\n.*inscriptions\.json cannot[^]*collection_unreadable/u,
  );
  expect(await stored('kept')).toEqual([{ index: 0, name: null }]);
});

const oddLists = new URL('../../fixtures/collections/', import.meta.url);

test('lists of the community with an oddity are imported without it, and it is named', {
  tags: ['proof'],
}, async () => {
  const from = (name: string): string => fileURLToPath(new URL(name, oddLists));
  expect((await cli(['import', from('no-scheme')])).stdout).toBe(
    `added no-scheme (A): 1 items, 1 not indexed yet
  left out meta.json, website_link: it is not an http or https URL
  left out meta.json, twitter_link: it is not an http or https URL
`,
  );
  expect(JSON.parse((await cli(['import', from('no-scheme'), '--json'])).stdout)).toMatchObject({
    result: 'unchanged',
    leftOut: [{ where: 'meta.json, website_link', why: 'it is not an http or https URL' }, {}],
    leftOutCount: 2,
  });
  expect((await cli(['import', from('heart')])).stdout).toBe('added heart (C): 1 items, 1 not indexed yet\n');
  expect(await stored('heart')).toEqual([{ index: 0, name: 'gm <3' }]);
  expect((await cli(['import', from('Upper-Case')])).stdout).toBe(
    `added upper-case (B): 1 items, 1 not indexed yet
  the list has the slug "Upper-Case", but its slug here is upper-case
`,
  );
  expect((await cli(['import', from('Upper-Case')])).stdout).toMatch(/^unchanged upper-case/u);
});

test('names that act on terminals are printed as escapes, and are whole in JSON', {
  tags: ['proof'],
}, async () => {
  const name = 'A\u001b[2J\u202eb\u009b\nc';
  await database.pool.query(
    `INSERT INTO service.market_collections (slug, name, items, digest) VALUES ('zz-acting', $1, 0, sha256('x'))`,
    [name],
  );
  const listed = await cli(['list', '--after', 'zz-a']);
  expect(listed.stdout).toMatch(/^zz-acting .* {2}A\\u001b\[2J\\u202eb\\u009b\\u000ac\n$/u);
  for (const words of [
    ['list', '--after', 'zz-a', '--json'],
    ['show', 'zz-acting', '--json'],
    ['show', 'zz-acting'],
  ]) {
    const { stdout } = await cli(words);
    expect([JSON.parse(stdout)].flat()).toMatchObject([{ slug: 'zz-acting', name }]);
    expect(stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  }
  await cli(['remove', 'zz-acting']);
});

test('a list whose slug another one has gets a number, and keeps it', { tags: ['proof'] }, async () => {
  const [first, second] = ids(2);
  const imported = async (name: string, item: string | undefined): Promise<unknown> => {
    const path = await folder(`same-${name}`, [{ id: item }], { name, slug: name });
    const { slug, listSlug, result } = JSON.parse((await cli(['import', path, '--json'])).stdout) as Record<
      string,
      unknown
    >;
    return [slug, listSlug, result];
  };
  expect(await imported('Ponds.one', first)).toEqual(['ponds-one', 'Ponds.one', 'added']);
  expect(await imported('ponds-one', first)).toEqual(['ponds-one-2', 'ponds-one', 'added']);
  expect(await imported('PONDS ONE', first)).toEqual(['ponds-one-3', 'PONDS ONE', 'added']);
  expect(await imported('ponds-one', second)).toEqual(['ponds-one-2', 'ponds-one', 'replaced']);
  expect(await imported('Ponds.one', first)).toEqual(['ponds-one', 'Ponds.one', 'unchanged']);
  expect(await stored('ponds-one')).toEqual([{ index: 0, name: null }]);
});

test('a URL is asked as a stranger’s: nothing private without leave', async () => {
  served = JSON.stringify(ids(2).map((id) => ({ id })));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/lists/ponds`;
  const guarded = await cli(['import', url]);
  expect([guarded.exitCode, guarded.stderr]).toEqual([1, expect.stringContaining('url_refused')]);
  const open = { ALLOW_PRIVATE_URLS: 'true' };
  expect((await cli(['import', url], open)).stdout).toMatch(/^added ponds \(Ponds\): 2 items/u);
  const odd = await cli(['import', url.replace('ponds', 'Odd%20Ponds')], open);
  expect(odd.stdout).toMatch(/^added odd-ponds \(Ponds\).*\n {2}the list has the slug "Odd Ponds"/u);
  const missing = await cli(['import', `${url}/none`], open);
  expect([missing.exitCode, missing.stderr]).toEqual([
    1,
    expect.stringMatching(/meta\.json .*status 404\.\n.*inscriptions\.json .*status 404/u),
  ]);
});

test.each([
  [[], /missing subcommand; use/u],
  [['import'], /missing/u],
  [['list', 'x'], /unexpected word x/u],
  [['show', 'x', '--limit', '1'], /--limit is not a flag/u],
  [['list', '--limit', '0'], /from 1 to 10000/u],
])('wrong usage %j is said', async (words, message) => {
  const { exitCode, stderr } = await cli(words);
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(message);
});
