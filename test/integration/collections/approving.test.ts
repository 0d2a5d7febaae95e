import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApprovalOptions } from '#collections/approving/approval-faults.ts';
import { type Approved, approveCollection } from '#collections/approving/approve-collection.ts';
import type { ContentsDisk } from '#collections/approving/contents-disk.ts';
import { closeCollection, refuseCollection } from '#collections/approving/decide-collection.ts';
import { previewApproval } from '#collections/approving/preview-approval.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { replaceCollection } from '#market/collections/collection.store.ts';
import { CustomerFiles, fileFolders } from '#orders/files/customer-files.ts';
import { fileBytesMax } from '#orders/files/file-bounds.ts';
import { sweepFolder } from '#orders/files/sweep-files.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { holdOne, holdRequest } from '#test/support/collections/collection-rows.ts';
import { type FileServer, startFileServer } from '#test/support/collections/file-server.ts';
import { insertPending } from '#test/support/collections/pending-rows.ts';
import { soldMarket } from '#test/support/collections/sold-market.ts';
import { type DataDir, makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
let data: DataDir;
let server: FileServer;
let files: CustomerFiles;
let disk: ContentsDisk;
const outgoing = new OutgoingHttp({ allowPrivate: true });
beforeAll(async () => {
  database = await createTestDatabase();
  data = await makeDataDir();
  server = await startFileServer(2);
  files = new CustomerFiles(data.path);
  disk = {
    put: (content) => files.put(content),
    bytesOf: (sha256) => files.bytesOf(sha256),
  };
});
afterAll(async () => {
  await outgoing.close();
  await server.close();
  await database.drop();
  await data.remove();
});

const strict: ApprovalOptions = { allowsDoubles: false, bytesMax: fileBytesMax, nonStandard: false };

/** Approves a collection, and counts the contents that are stored during the approval. */
function approve(
  id: string,
  given: Partial<ApprovalOptions> & { signal?: AbortSignal; onStored?: (files: number) => void } = {},
): Promise<Approved> {
  const { signal = new AbortController().signal, onStored = () => undefined, ...options } = given;
  return approveCollection(
    {
      pool: database.pool,
      disk,
      own: {
        read: (url) =>
          Promise.resolve(url.startsWith('https://ours.example/') ? Buffer.from(`own ${url}`) : null),
      },
      outgoing,
      market: soldMarket,
      signal,
      onMissing: () => undefined,
      onStored,
    },
    id,
    { ...strict, ...options },
  );
}

const faultsOf = async (work: Promise<unknown>): Promise<readonly { where: string; why: string }[]> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AppError) || error.code !== 'mint_files_wrong') throw error;
  return error.details['faults'] as { where: string; why: string }[];
};

/** Serves small texts, and inserts a collection that names them. */
async function pending(id: string, count: number, given: object = {}): Promise<void> {
  for (let place = 0; place < count; place++) server.contents.set(`/${id}/${place}.txt`, `${id} ${place}`);
  await insertPending(database.pool, {
    id,
    totalCount: count,
    files: Array.from({ length: count }, (_, place) => ({
      name: `${place}.txt`,
      url: server.url(`/${id}/${place}.txt`),
    })),
    ...given,
  });
}

const rowsOf = async (sql: string, id: string): Promise<unknown[]> =>
  (await database.pool.query<object>(sql, [id])).rows;
const stateOf = (id: string) =>
  rowsOf('SELECT state, decided_at IS NULL AS open FROM service.mint_collections WHERE id = $1', id);
const asksFor = (id: string): number =>
  [...server.asked].filter(([path]) => path.startsWith(`/${id}/`)).reduce((sum, [, asked]) => sum + asked, 0);
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

test('approved contents are sold, whatever the URLs have later', async () => {
  await pending('frogs', 200);
  const seen: number[] = [];
  const approved = await approve('frogs', { onStored: (stored) => seen.push(stored) });
  expect(approved).toMatchObject({ items: 200, files: 200, fetched: 200, differences: [] });
  expect(seen).toEqual(Array.from({ length: 200 }, (_, nth) => nth + 1));
  expect([asksFor('frogs'), server.together() <= 4]).toEqual([200, true]);
  expect(await stateOf('frogs')).toEqual([{ state: 'approved', open: false }]);
  expect(
    await rowsOf(
      `SELECT count(*)::integer AS items, min(item) AS first, max(item) AS last, bool_and(file = item - 1) AS same,
              count(DISTINCT draw)::integer > 190 AS is_drawn, bool_and(order_id IS NULL) AS is_free
         FROM service.mint_items WHERE collection = $1`,
      'frogs',
    ),
  ).toEqual([{ items: 200, first: 1, last: 200, same: true, is_drawn: true, is_free: true }]);
  expect(await rowsOf('SELECT slug, items FROM service.market_collections WHERE slug = $1', 'frogs')).toEqual(
    [{ slug: 'frogs', items: 0 }],
  );

  server.contents.set('/frogs/6.txt', 'something else');
  await expect(approve('frogs')).rejects.toMatchObject({ code: 'mint_decided' });
  const held = await holdOne(database.pool, holdRequest('frogs', { items: { kind: 'named', numbers: [7] } }));
  expect(held).toMatchObject({
    kind: 'held',
    items: [{ item: 7, name: '6.txt', sha256: sha256('frogs 6') }],
  });
  expect((await files.get(sha256('frogs 6')))?.toString()).toBe('frogs 6');
  expect(asksFor('frogs')).toBe(200);
});

test('one file with a larger supply is an edition', async () => {
  await pending('edition', 1, { totalCount: 50 });
  expect(await approve('edition')).toMatchObject({ items: 50, files: 1, fetched: 1 });
  expect(
    await rowsOf(
      'SELECT count(*)::integer AS items, max(file) AS file FROM service.mint_items WHERE collection = $1',
      'edition',
    ),
  ).toEqual([{ items: 50, file: 0 }]);
});

describe('all faults are shown together, and nothing is approved', () => {
  test('those of terms and names before a file is fetched', async () => {
    await pending('terms', 3, { totalCount: 5, phasePrice: 100 });
    await database.pool.query(
      `UPDATE service.mint_files SET name = 'art.exe' WHERE collection = 'terms' AND place = 0`,
    );
    await database.pool.query(
      `UPDATE service.mint_files SET url = NULL WHERE collection = 'terms' AND place = 1`,
    );
    const faults = await faultsOf(approve('terms'));
    expect(faults.map(({ where, why }) => `${where} ${why}`)).toEqual([
      expect.stringMatching(/^creator-address is missing.*phase 1/u),
      expect.stringMatching(/^files are 3, but totalCount is 5/u),
      expect.stringMatching(/^art\.exe has a type/u),
      expect.stringMatching(/^1\.txt has no URL/u),
    ]);
    expect(asksFor('terms')).toBe(0);
    expect((await previewApproval(database.pool, soldMarket, 'terms', strict)).faults).toEqual(faults);
  });

  test('those of contents once all are fetched, and stored ones are not fetched again', async () => {
    await pending('contents', 7);
    server.contents.set('/contents/1.txt', '');
    server.contents.set('/contents/3.txt', 'contents 2');
    server.contents.delete('/contents/4.txt');
    server.contents.set('/contents/5.txt', Buffer.alloc(4_000_001));
    server.contents.set('/contents/6.txt', Buffer.alloc(399_000));
    const faults = await faultsOf(approve('contents'));
    expect(faults.map(({ where, why }) => `${where} ${why}`).toSorted()).toEqual([
      expect.stringMatching(/^1\.txt is empty/u),
      expect.stringMatching(/^3\.txt has the same bytes as 2\.txt/u),
      expect.stringMatching(/^4\.txt cannot be fetched, because its server answers with status 404/u),
      expect.stringMatching(/^5\.txt cannot be fetched: The server sends more than 4000000 bytes/u),
      expect.stringMatching(/^6\.txt has 399000 bytes, which no standard transaction/u),
    ]);
    expect(await stateOf('contents')).toEqual([{ state: 'pending', open: true }]);
    expect(await rowsOf('SELECT FROM service.mint_items WHERE collection = $1', 'contents')).toEqual([]);

    server.contents.set('/contents/1.txt', 'mended 1');
    server.contents.set('/contents/4.txt', 'mended 4');
    server.contents.set('/contents/5.txt', 'mended 5');
    expect(await approve('contents', { allowsDoubles: true, nonStandard: true })).toMatchObject({
      items: 7,
      fetched: 4,
    });
    expect([0, 1, 2, 3].map((place) => server.asked.get(`/contents/${place}.txt`))).toEqual([1, 2, 1, 1]);
  });

  test('a host that is gone is not asked for each of its files', async () => {
    const count = 300;
    await insertPending(database.pool, {
      id: 'gone',
      totalCount: count,
      files: Array.from({ length: count }, (_, place) => ({
        name: `${place}.png`,
        url: server.url(`/gone/${place}`),
      })),
    });
    await expect(approve('gone')).rejects.toMatchObject({
      code: 'mint_files_wrong',
      message: expect.stringMatching(/19\d more files were not fetched/u) as unknown,
    });
    expect(asksFor('gone')).toBeLessThan(110);
  });

  test('a slug that the market has', async () => {
    await pending('market-has-it', 1);
    await withTransaction(database.pool, (tx) => soldMarket.open(tx, { id: 'market-has-it', name: 'x' }));
    expect(await faultsOf(approve('market-has-it'))).toEqual([
      { where: 'id', why: 'is already the slug of a collection of the market' },
    ]);
    expect(await stateOf('market-has-it')).toEqual([{ state: 'pending', open: true }]);
  });
});

test('an import and an approval at once never take one slug', async () => {
  const slugs = ['race-1', 'race-2', 'race-3', 'race-4', 'race-5', 'race-6'];
  const digest = Buffer.alloc(32);
  const texts = { description: null, icon: null, website: null, twitter: null, discord: null };
  for (const slug of slugs) await pending(slug, 1);
  const raced = slugs.map(async (slug) => {
    const [imported, approved] = await Promise.all([
      withTransaction(database.pool, (tx) =>
        replaceCollection(tx, { slug, name: slug, ...texts }, [], digest),
      ),
      approve(slug).then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'mint_files_wrong' });
          return false;
        },
      ),
    ]);
    const [{ state }] = (await stateOf(slug)) as [{ state: string }];
    // the first collection has the slug, and the other collection does not have it
    return [imported.slug, approved, state].join();
  });
  for (const [nth, outcome] of (await Promise.all(raced)).entries()) {
    const slug = slugs[nth]!;
    expect([`${slug},false,pending`, `${slug}-2,true,approved`]).toContain(outcome);
  }
});

test('a size that differs from the named one is a warning', async () => {
  await insertPending(database.pool, {
    id: 'sizes',
    totalCount: 2,
    files: [
      { name: 'a.txt', url: server.url('/sizes/a'), toldBytes: 5 },
      { name: 'b.txt', url: server.url('/sizes/b'), toldBytes: 7 },
    ],
  });
  server.contents.set('/sizes/a', 'told');
  server.contents.set('/sizes/b', 'as told');
  expect((await approve('sizes')).differences).toEqual([{ name: 'a.txt', toldBytes: 5, bytes: 4 }]);
});

test('an interrupted approval fetches the missing files', async () => {
  await pending('resumed', 120);
  const controller = new AbortController();
  const reason = new Error('interrupted');
  const interrupted = approve('resumed', {
    signal: controller.signal,
    onStored: (stored) => {
      if (stored === 60) controller.abort(reason);
    },
  });
  await expect(interrupted).rejects.toBe(reason);
  const before = asksFor('resumed');
  const { fetched } = await approve('resumed');
  expect(fetched).toBeLessThanOrEqual(60);
  // some contents were already being fetched
  expect(asksFor('resumed') - before).toBe(fetched);
});

test('contents that the disk has lost are fetched again', async () => {
  await pending('lost', 2);
  await database.pool.query(
    `UPDATE service.mint_files SET sha256 = sha256('gone'), bytes = 4, media_type = 'text/plain' WHERE collection = 'lost'`,
  );
  expect(await approve('lost')).toMatchObject({ fetched: 2 });
});

test('URLs of this service are read from disk', async () => {
  await insertPending(database.pool, {
    id: 'own',
    totalCount: 1,
    files: [{ name: 'a.txt', url: 'https://ours.example/files/a' }],
  });
  expect(await approve('own')).toMatchObject({ bytes: 'own https://ours.example/files/a'.length });
});

test('two approvals at once: one decides', async () => {
  await pending('twice', 3);
  const both = await Promise.allSettled([approve('twice'), approve('twice')]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await rowsOf('SELECT item FROM service.mint_items WHERE collection = $1', 'twice')).toHaveLength(3);
});

test('a pending collection is refused, an approved one is closed', async () => {
  await pending('decided', 1);
  await expect(closeCollection(database.pool, 'decided', 'no')).rejects.toMatchObject({
    code: 'mint_decided',
  });
  await approve('decided');
  await expect(refuseCollection(database.pool, 'decided', 'no')).rejects.toMatchObject({
    code: 'mint_decided',
  });
  await closeCollection(database.pool, 'decided', 'The creator asked for it.');
  await expect(closeCollection(database.pool, 'decided', 'again')).rejects.toMatchObject({
    code: 'mint_decided',
  });
  expect(await holdOne(database.pool, holdRequest('decided'))).toMatchObject({ kind: 'closed' });
  await pending('refused', 1);
  await refuseCollection(database.pool, 'refused', 'Not yours.');
  await expect(approve('refused')).rejects.toMatchObject({ code: 'mint_decided' });
  await expect(approve('unknown')).rejects.toMatchObject({ code: 'mint_unknown' });
  expect(
    await rowsOf(
      `SELECT state, reason FROM service.mint_collections WHERE id = ANY($1::text[]) ORDER BY id`,
      '{decided,refused}',
    ),
  ).toEqual([
    { state: 'closed', reason: 'The creator asked for it.' },
    { state: 'refused', reason: 'Not yours.' },
  ]);
});

test('a sweep leaves contents that collections name, and deletes those that a refused one named', async () => {
  await pending('kept', 2);
  await approve('kept');
  for (const id of ['dropped', 'waiting']) {
    // one of the collection's two files is missing, and the other file stays for the next run
    await pending(id, 2);
    server.contents.delete(`/${id}/1.txt`);
    await faultsOf(approve(id));
  }
  await refuseCollection(database.pool, 'dropped', 'Not yours.');
  const isThere = async (text: string): Promise<boolean> => (await files.get(sha256(text))) !== null;
  const all = ['kept 0', 'kept 1', 'waiting 0', 'dropped 0'];
  expect(await Promise.all(all.map(isThere))).toEqual([true, true, true, true]);
  const client = await database.pool.connect();
  try {
    // much later, because unnamed contents are deleted after a week
    const later = new Date(Date.now() + 30 * 86_400_000);
    for (const folder of fileFolders) await sweepFolder(client, files, folder, later);
  } finally {
    client.release();
  }
  expect(await Promise.all(all.map(isThere))).toEqual([true, true, true, false]);
});
