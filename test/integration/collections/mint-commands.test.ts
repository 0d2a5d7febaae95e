import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { UsageError } from '#src/app/command-context.ts';
import { insertCollection } from '#test/support/collections/collection-rows.ts';
import { type FileServer, startFileServer } from '#test/support/collections/file-server.ts';
import { insertPending } from '#test/support/collections/pending-rows.ts';
import { type DataDir, makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { runCli } from '#test/support/run-cli.ts';
import { runCommand } from '#test/support/run-command.ts';

const uploadedKey = '0c7c1f4e-5d1b-4a7e-9c43-3f1f8f1f0001_a.txt';

let database: TestDatabase;
let data: DataDir;
let server: FileServer;
beforeAll(async () => {
  database = await createTestDatabase();
  data = await makeDataDir();
  server = await startFileServer();
});
afterAll(async () => {
  await server.close();
  await database.drop();
  await data.remove();
});

const settings = () => ({ ...database.settings, DATA_DIR: data.path, ALLOW_PRIVATE_URLS: 'true' });
const mint = (...words: string[]): Promise<string> => runCommand(['mint', ...words], settings());
const json = async (...words: string[]): Promise<unknown> =>
  JSON.parse(await mint(...words, '--json')) as unknown;

test('a collection is looked at, approved and closed', async () => {
  expect(await mint('list', '--state', 'closed')).toBe(
    'no closed collections; creators send collections to POST /collection-create\n',
  );
  server.contents.set('/a.txt', 'first');
  server.contents.set('/b.txt', 'second');
  await insertPending(database.pool, {
    id: 'ponds',
    totalCount: 2,
    price: 5_000,
    creatorAddress: 'bc1creator',
    files: [
      { name: 'a.txt', url: server.url('/a.txt'), toldBytes: 5 },
      { name: 'b.txt', url: server.url('/b.txt'), toldBytes: 9 },
    ],
    shown: { description: 'Ponds\u202e of frogs', website: 'https://ponds.example' },
  });
  expect(await mint('list')).toMatch(/^ponds +pending +2 +0 +0 +5000 {2}\d{4}-/mu);
  const before = await mint('show', 'ponds');
  expect(before).toContain('  description  Ponds\\u202e of frogs\n');
  expect(before).toContain('5000 sats an item to bc1creator');
  expect(before).toContain('files: 2, 0 of these files stored (0 bytes)\n');
  expect(before).toContain(
    'satscribe mint approve ponds now fetches 2 files (14 bytes by its creator), checks all bytes, and begins the sale\n',
  );
  expect(await json('show', 'ponds', '--limit', '1')).toMatchObject({
    id: 'ponds',
    price: 5_000,
    phases: [{ phase: '1', isPublic: true, price: 5_000 }],
    files: { files: 2, stored: 0, first: [{ name: 'a.txt', sha256: null }] },
    approval: { faults: [], toFetch: 2, toFetchBytes: 14, differences: [] },
  });

  expect(await mint('approve', 'ponds')).toBe(
    'approved ponds: 2 items, 11 bytes, 2 files fetched now\n  warning: b.txt has 6 bytes, but its creator said 9\n',
  );
  const after = await mint('show', 'ponds');
  expect(after).toContain('2: 0 sold, 0 unpaid, 2 left');
  expect(after).toContain('     1  a.txt  5 bytes, text/plain;charset=utf-8  http');
  expect(after).not.toContain('checks all bytes');
  expect(await json('list', '--state', 'approved')).toContainEqual(
    expect.objectContaining({ id: 'ponds', state: 'approved', price: 5_000, sold: 0, unpaid: 0 }),
  );
  expect(await mint('list', '--after', 'ponds')).toContain('no collections');
  expect(await mint('close', 'ponds', '--reason', 'Sold elsewhere.')).toBe('closed ponds\n');
  expect(await mint('show', 'ponds')).toContain('  reason       Sold elsewhere.\n');
});

test('a folder is uploaded, approved and refused', async () => {
  await insertPending(database.pool, { id: 'folder', totalCount: 2, files: [] });
  expect(await mint('show', 'folder')).toContain(
    'the collection cannot be approved now:\n  files are missing; add the files of a folder with satscribe mint upload\n',
  );
  const path = join(data.path, 'art');
  await mkdir(path);
  await writeFile(join(path, '1.txt'), 'one');
  await writeFile(join(path, '2.txt'), 'one');
  expect(await mint('upload', 'folder', path)).toBe(
    'uploaded 2 files to folder, 6 bytes; 0 of these files were already stored\n',
  );
  const refusal = await runCli(['mint', 'approve', 'folder'], settings());
  expect([refusal.exitCode, refusal.stdout]).toEqual([1, '']);
  expect(refusal.stderr).toContain(
    'The collection folder was not changed, because of these faults:\n  2.txt has the same bytes as 1.txt; use --allow-doubles to sell both items.\n',
  );
  expect(await json('refuse', 'folder', '--reason', 'Twice the same.')).toEqual({
    refused: 'folder',
    reason: 'Twice the same.',
  });
  await expect(mint('approve', 'folder')).rejects.toMatchObject({ code: 'mint_decided' });
});

test.each([
  [[], /list, show, approve, refuse, close, upload or earnings/u],
  [['show'], /missing id; use satscribe mint show <id>/u],
  [['upload', 'x'], /missing folder/u],
  [['refuse', 'x'], /missing reason; use satscribe mint refuse x --reason/u],
  [['list', '--state', 'new'], /--state new must be one of pending/u],
  [['list', '--limit', '0'], /--limit must be a number/u],
  [['approve', 'x', 'y'], /unexpected word y/u],
  [['list', '--allow-doubles'], /--allow-doubles is not a flag/u],
  [['earnings', '--json', '--csv'], /--json and --csv exclude each other/u],
])('wrong usage %j is reported', async (words: string[], message) => {
  const error = await mint(...words).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(UsageError);
  expect((error as UsageError).message).toMatch(message);
});

test('unknown collections are reported', async () => {
  for (const words of [
    ['show', 'x'],
    ['approve', 'x'],
    ['list', '--after', 'x'],
    ['earnings', 'x'],
  ])
    await expect(mint(...words)).rejects.toMatchObject({ code: 'mint_unknown' });
});

test('earnings come from delivered orders, except those that were taken back', async () => {
  await insertCollection(database.pool, {
    id: 'earning',
    items: 10,
    price: 1_000,
    creatorAddress: 'bc1creator',
  });
  await insertCollection(database.pool, { id: 'other', items: 2 });
  expect(await mint('earnings', 'other')).toBe(
    'other has earned nothing yet, because only delivered orders earn\n',
  );
  let orders = 1;
  const order = async (collection: string, items: number): Promise<string> => {
    const id = randomUUID();
    const key = orders++;
    await database.pool.query(
      `INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
          terms, expires_at)
       VALUES ($1, 'bulk', 'completed', $2, $2, $3, 'an address', 'wallet', 1000, '{}', '{}', '{}', now())`,
      [id, key, Buffer.alloc(34, key)],
    );
    await database.pool.query(
      `INSERT INTO service.mint_orders (order_id, collection, phase, items, numbers, is_requested, script, price, standing)
       VALUES ($1, $2, 'public', $3, array_fill(1, ARRAY[$3::integer]), false, '\\x51', 0, 'allowed')`,
      [id, collection, items],
    );
    return id;
  };
  const post = (subject: string, from: string | null, to: string | null, account: string, sats: number) =>
    database.pool.query(
      `INSERT INTO service.ledger_entries (subject_kind, subject_id, from_account, from_owner, to_account, to_owner, asset, amount, txid)
       VALUES ('order', $1, $2, $3, $4, $5, 0, $6, $7)`,
      [
        subject,
        from === null ? 'outside' : account,
        from,
        to === null ? 'outside' : account,
        to,
        sats,
        Buffer.alloc(32, 1),
      ],
    );
  const [first, second, third, taken] = [
    await order('earning', 2),
    await order('earning', 1),
    await order('other', 1),
    await order('earning', 1),
  ];
  await post(first, null, 'bc1creator', 'creator', 2_000);
  await post(first, null, 'friend', 'referral', 300);
  await post(second, null, 'bc1creator', 'creator', 1_000);
  await post(third, null, '=cmd', 'referral', 50);
  await post(taken, null, 'bc1creator', 'creator', 1_000);
  await post(taken, 'bc1creator', null, 'creator', 1_000);
  expect(await json('earnings')).toEqual([
    {
      collection: 'earning',
      creatorSats: 3_000,
      referralSats: 300,
      earnings: [
        { kind: 'creator', owner: 'bc1creator', sats: 3_000, orders: 2, items: 3 },
        { kind: 'referral', owner: 'friend', sats: 300, orders: 1, items: 2 },
      ],
    },
    {
      collection: 'other',
      creatorSats: 0,
      referralSats: 50,
      earnings: [{ kind: 'referral', owner: '=cmd', sats: 50, orders: 1, items: 1 }],
    },
  ]);
  expect((await mint('earnings', 'other', '--csv')).split('\r\n')).toEqual([
    'collection,kind,owner,sats,orders,items',
    "other,referral,'=cmd,50,1,1",
    '',
  ]);
  const table = await mint('earnings');
  expect(table).toMatch(/^earning\n +SATS +ITEMS +ORDERS {2}WHO\n +3000 +3 +2 {2}creator bc1creator\n/mu);
  expect(table).toMatch(/^ +3000 +all creators$/mu);
});

test('uploads to this service are read from disk', async () => {
  const files = new CustomerFiles(join(data.path, 'files'));
  const content = Buffer.from('uploaded');
  await database.pool.query(`INSERT INTO service.accounts (name) VALUES ('creator')`);
  await database.pool.query(
    `WITH key AS (
       INSERT INTO service.keys (account, hash, prefix, scopes, burst, per_seconds)
       VALUES ('creator', sha256('creator'), 'c', '{orders}', 1, 60) RETURNING id)
     INSERT INTO service.uploaded_files (s3_key, sha256, bytes, media_type, key_id)
     SELECT $1, $2, $3, 'text/plain', id FROM key`,
    [uploadedKey, await files.put(content), content.length],
  );
  await insertPending(database.pool, {
    id: 'uploads',
    totalCount: 2,
    files: [
      { name: 'a.txt', url: server.url(`/files/${uploadedKey}`) },
      { name: 'b.txt', url: server.url('/files/unknown') },
    ],
  });
  const env = { ...settings(), PUBLIC_URL: server.url('') };
  const approve = (): Promise<string> => runCommand(['mint', 'approve', 'uploads'], env);
  await expect(approve()).rejects.toMatchObject({
    code: 'mint_files_wrong',
    details: {
      faults: [{ where: 'b.txt', why: expect.stringContaining('names no file of this service') as unknown }],
    },
  });
  await database.pool.query(
    `UPDATE service.mint_files SET url = $1 WHERE collection = 'uploads' AND name = 'b.txt'`,
    [server.url('/b.txt')],
  );
  server.contents.set('/b.txt', 'fetched');
  expect(await approve()).toBe('approved uploads: 2 items, 15 bytes, 1 files fetched now\n');
  expect([...server.asked.keys()].filter((path) => path.startsWith('/files/'))).toEqual([]);
  // without PUBLIC_URL, uploads have the address by which the client reached this machine
  await insertPending(database.pool, {
    id: 'local-uploads',
    totalCount: 2,
    files: [
      { name: 'a.txt', url: `http://localhost:7700/files/${uploadedKey}` },
      { name: 'b.txt', url: server.url('/files/of-another') },
    ],
  });
  server.contents.set('/files/of-another', 'of another program');
  expect(await mint('approve', 'local-uploads')).toBe(
    'approved local-uploads: 2 items, 26 bytes, 2 files fetched now\n',
  );
  expect(server.asked.get(`/files/${uploadedKey}`)).toBeUndefined();
});
