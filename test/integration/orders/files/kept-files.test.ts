import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refuseCollection } from '#collections/approving/decide-collection.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { sweepFolder, sweepUploads } from '#orders/files/sweep-files.ts';
import { addressOf } from '#test/builders/regtest/regtest-transaction.ts';
import { insertPending } from '#test/support/collections/pending-rows.ts';
import { giveKey } from '#test/support/http/search-access.ts';
import { createOrdersApp, type OrdersApp } from '#test/support/orders/orders-app.ts';

let http: OrdersApp;
let files: CustomerFiles;
beforeAll(async () => {
  http = await createOrdersApp();
  files = new CustomerFiles(http.filesDir);
});
afterAll(() => http.close());

const dayMs = 86_400_000;
const nameOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const pathOf = (name: string): string => join(http.filesDir, name.slice(0, 2), name);

/** Makes an order of a text, and returns the path of its file. */
async function ordered(text: string): Promise<{ id: string; url: string }> {
  const { body } = await http.post<{ id: string; files: { s3Key: string }[] }>('/inscribe', {
    files: [{ name: 'a.txt', dataURL: `data:text/plain;base64,${Buffer.from(text).toString('base64')}` }],
    receiveAddress: addressOf(700),
  });
  return { id: body.id, url: `/files/${encodeURIComponent(body.files[0]!.s3Key)}` };
}

/** Sets the order to a state that began some days ago. */
const since = (id: string, state: string, days: number) =>
  http.database.pool.query(
    `UPDATE service.orders SET state = $2, expires_at = now() - $3 * interval '1 day',
            completed_at = now() - $3 * interval '1 day',
            error = CASE WHEN $2 = 'error' THEN 'why' END WHERE id = $1`,
    [id, state, days],
  );

/** Sets the time at which the file was written, some days ago. */
async function age(name: string, days: number): Promise<void> {
  const at = new Date(Date.now() - days * dayMs);
  await utimes(pathOf(name), at, at);
}

const sweep = (name: string): Promise<number> =>
  withTransaction(http.database.pool, (tx) => sweepFolder(tx, files, name.slice(0, 2), new Date()));
const isThere = async (name: string): Promise<boolean> =>
  (await readdir(join(http.filesDir, name.slice(0, 2)))).includes(name);

test.for([
  ['waiting-payment', 100, true],
  ['queued', 100, true],
  ['error', 100, true],
  ['waiting-refund', 100, true],
  ['expired', 6, true],
  ['expired', 8, false],
  ['cancelled', 8, false],
  ['completed', 29, true],
  ['completed', 31, false],
  ['refunded', 31, false],
] as const)('of an order that is %s since %i days is kept: %s', async ([state, days, isKept]) => {
  const text = `${state} ${days}`;
  const { id, url } = await ordered(text);
  await since(id, state, days);
  await age(nameOf(text), 101);
  const bytes = await sweep(nameOf(text));
  expect(await isThere(nameOf(text))).toBe(isKept);
  expect(bytes > 0).toBe(isKept);
  const answer = await http.app.inject({ url });
  expect(answer.statusCode).toBe(isKept ? 200 : 410);
  expect(answer.body).toBe(
    isKept
      ? text
      : 'this file was deleted, because files are deleted 7 days after an order expired, or 30 days after it was completed or refunded\n',
  );
});

test.for([
  ['page.html', 'text/html', '<script>alert(document.domain)</script>'],
  ['picture.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'],
  ['a.pdf', 'application/pdf', '%PDF-1.4'],
  ['a.txt', 'text/plain', 'text'],
  ['\u202egpj.";x="\u00fc.html', 'text/html', '<form action="https://example.com">'],
] as const)('%s is a download: nothing of it is shown or run on this site', async ([name, type, text]) => {
  const { body } = await http.post<{ files: { s3Key: string }[] }>('/inscribe', {
    files: [{ name, dataURL: `data:${type};base64,${Buffer.from(text).toString('base64')}` }],
    receiveAddress: addressOf(700),
  });
  const key = body.files[0]!.s3Key;
  const answer = await http.app.inject({ url: `/files/${encodeURIComponent(key)}` });
  expect([answer.statusCode, answer.body]).toEqual([200, text]);
  const { headers } = answer;
  expect(headers).toMatchObject({
    'content-type': expect.stringContaining(type) as string,
    'content-security-policy': "default-src 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  expect(headers['content-disposition']).toBe(`attachment; filename="${key.replace(/[^\w.-]/gu, '_')}"`);
});

test('that another order needs too stays until both are over', async () => {
  const [first, second] = [await ordered('shared'), await ordered('shared')];
  await since(first.id, 'expired', 50);
  await age(nameOf('shared'), 60);
  await sweep(nameOf('shared'));
  expect((await http.app.inject({ url: first.url })).body).toBe('shared');
  await since(second.id, 'completed', 50);
  await sweep(nameOf('shared'));
  expect((await http.app.inject({ url: second.url })).statusCode).toBe(410);
});

test('that is stored again while it is deleted stays', async () => {
  const name = nameOf('again');
  const { id } = await ordered('again');
  await since(id, 'expired', 50);
  await age(name, 60);
  const notSince = new Date(Date.now() - dayMs);
  // another order with the same content is being made, and its rows are not stored yet
  await files.put(Buffer.from('again'));
  expect(await files.remove(name, notSince)).toBe(false);
  expect(await isThere(name)).toBe(true);
  await sweep(name);
  expect(await isThere(name)).toBe(true);
});

test('that a killed process left aside comes back, and is deleted if it is not needed', async () => {
  const name = nameOf('aside');
  const { id, url } = await ordered('aside');
  await age(name, 60);
  await rename(pathOf(name), `${pathOf(name)}.aside`);
  await sweep(name);
  expect((await http.app.inject({ url })).body).toBe('aside');
  await since(id, 'cancelled', 50);
  await sweep(name);
  expect((await http.app.inject({ url })).statusCode).toBe(410);
});

test('without an order is deleted after a week, a partial one after a day, and nothing else', async () => {
  const name = nameOf('orphan');
  await mkdir(join(http.filesDir, name.slice(0, 2)), { recursive: true });
  const partial = `${name}.0a0b.part`;
  const others = ['of the operator', partial.replace('0a0b', 'ffff')];
  for (const file of [name, partial, ...others])
    await writeFile(join(http.filesDir, name.slice(0, 2), file), 'x');
  await age(name, 6);
  const at = new Date(Date.now() - 2 * dayMs);
  await utimes(join(http.filesDir, name.slice(0, 2), partial), at, at);
  await utimes(join(http.filesDir, name.slice(0, 2), 'of the operator'), at, at);
  await sweep(name);
  const left = async (): Promise<string[]> =>
    (await readdir(join(http.filesDir, name.slice(0, 2)))).filter((file) =>
      [name, partial, ...others].includes(file),
    );
  expect((await left()).toSorted()).toEqual([name, ...others].toSorted());
  await age(name, 8);
  await sweep(name);
  expect((await left()).toSorted()).toEqual(others.toSorted());
});

describe('an upload', () => {
  interface Uploaded {
    readonly url: string;
    readonly s3Key: string;
    readonly sha256: string;
  }
  let key: string;
  beforeAll(async () => {
    ({ key } = await giveKey(http.database.pool, { scopes: ['orders'] }));
  });
  async function upload(name: string, payload: string): Promise<Uploaded> {
    const url = `/files/${name}`;
    const answer = await http.app.inject({ method: 'PUT', url, payload, headers: { 'x-api-key': key } });
    return answer.json();
  }
  /** Sets the time of the upload, some days ago. */
  async function uploadedBefore({ s3Key, sha256: name }: Uploaded, days: number): Promise<void> {
    const at = new Date(Date.now() - days * dayMs);
    await utimes(pathOf(name), at, at).catch(() => undefined);
    await http.database.pool.query('UPDATE service.uploaded_files SET uploaded_at = $2 WHERE s3_key = $1', [
      s3Key,
      at,
    ]);
  }
  const sweepAll = ({ sha256: name }: Uploaded): Promise<unknown> =>
    withTransaction(http.database.pool, async (tx) => {
      await sweepUploads(tx, new AbortController().signal);
      await sweepFolder(tx, files, name.slice(0, 2), new Date());
    });
  const read = async (made: Uploaded) => http.app.inject({ url: `/files/${made.s3Key}` });

  test('is deleted after seven days if nothing names it, and is reported as deleted until thirty', async () => {
    const made = await upload('swept.txt', 'swept');
    await uploadedBefore(made, 6.9);
    await sweepAll(made);
    expect((await read(made)).body).toBe('swept');
    await uploadedBefore(made, 7.1);
    await sweepAll(made);
    expect(await isThere(made.sha256)).toBe(false);
    const gone = await read(made);
    expect([gone.statusCode, gone.body]).toEqual([
      410,
      'this file was deleted, because uploads are deleted after 7 days, unless an order or a collection needs them\n',
    ]);
    await uploadedBefore(made, 29.9);
    await sweepAll(made);
    expect((await read(made)).statusCode).toBe(410);
    await uploadedBefore(made, 30.1);
    await sweepAll(made);
    expect((await read(made)).statusCode).toBe(404);
  });

  test('is kept with its row while an order needs it', async () => {
    const made = await upload('kept.txt', 'kept');
    const { body } = await http.post<{ id: string }>('/inscribe', {
      files: [{ name: 'kept.txt', url: made.url }],
      receiveAddress: addressOf(700),
    });
    await uploadedBefore(made, 40);
    await sweepAll(made);
    expect((await read(made)).body).toBe('kept');
    await http.database.pool.query(
      `UPDATE service.orders SET state = 'expired', expires_at = now() - interval '8 days' WHERE id = $1`,
      [body.id],
    );
    await sweepAll(made);
    expect((await read(made)).statusCode).toBe(404);
    expect(await isThere(made.sha256)).toBe(false);
  });

  test('is kept while a collection names it by URL and waits for its approval', async () => {
    const made = await upload('art.txt', 'art of a pending collection');
    const { pool } = http.database;
    await insertPending(pool, {
      id: 'waits',
      totalCount: 2,
      files: [
        { name: 'art.txt', url: `https://ours.example/files/${made.s3Key}?v=1` },
        { name: 'other.txt', url: 'https://example.com/other.txt' },
      ],
    });
    await uploadedBefore(made, 40);
    await sweepAll(made);
    expect((await read(made)).body).toBe('art of a pending collection');
    // an approval that found a fault has fetched the upload; the upload's bytes then have their own name
    await pool.query(
      `UPDATE service.mint_files SET sha256 = $1, bytes = 27, media_type = 'text/plain' WHERE collection = 'waits' AND place = 0`,
      [Buffer.from(made.sha256, 'hex')],
    );
    await sweepAll(made);
    expect(await isThere(made.sha256)).toBe(true);
    await refuseCollection(pool, 'waits', 'Not yours.');
    await sweepAll(made);
    expect((await read(made)).statusCode).toBe(404);
    expect(await isThere(made.sha256)).toBe(false);
  });

  test('with the bytes of a younger one is kept for that one', async () => {
    const [old, young] = [await upload('old.txt', 'twice'), await upload('young.txt', 'twice')];
    await uploadedBefore(young, 3);
    await uploadedBefore(old, 8);
    await sweepAll(old);
    for (const made of [old, young]) expect((await read(made)).body).toBe('twice');
    await uploadedBefore(young, 8);
    await sweepAll(old);
    for (const made of [old, young]) expect((await read(made)).statusCode).toBe(410);
  });
});
