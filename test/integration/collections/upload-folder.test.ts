import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ContentsDisk } from '#collections/approving/contents-disk.ts';
import { type Uploaded, uploadFolder } from '#collections/approving/upload-folder.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { fileBytesMax } from '#orders/files/file-bounds.ts';
import { insertPending } from '#test/support/collections/pending-rows.ts';
import { type DataDir, makeDataDir } from '#test/support/data-dir.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let database: TestDatabase;
let data: DataDir;
let files: CustomerFiles;
beforeAll(async () => {
  database = await createTestDatabase();
  data = await makeDataDir();
  files = new CustomerFiles(join(data.path, 'files'));
});
afterAll(async () => {
  await database.drop();
  await data.remove();
});

/** The disk of one upload. It counts its writes, because an interrupted upload may still be writing. */
class CountedDisk implements ContentsDisk {
  puts = 0;

  put(content: Uint8Array): Promise<Buffer> {
    this.puts++;
    return files.put(content);
  }

  bytesOf(sha256: Uint8Array): Promise<number | null> {
    return files.bytesOf(sha256);
  }
}

async function folder(name: string, contents: Readonly<Record<string, string>>): Promise<string> {
  const path = join(data.path, name);
  await mkdir(path, { recursive: true });
  for (const [file, content] of Object.entries(contents)) await writeFile(join(path, file), content);
  return path;
}

const upload = (
  id: string,
  path: string,
  signal = new AbortController().signal,
  onStored: (files: number) => void = () => undefined,
  disk: ContentsDisk = new CountedDisk(),
): Promise<Uploaded> =>
  uploadFolder({ pool: database.pool, disk, signal, onStored }, id, path, {
    allowsDoubles: false,
    bytesMax: fileBytesMax,
    nonStandard: false,
  });

const listed = async (id: string): Promise<unknown[]> =>
  (
    await database.pool.query<object>(
      `SELECT place, name, url, bytes, media_type AS type FROM service.mint_files WHERE collection = $1 ORDER BY place`,
      [id],
    )
  ).rows;

test('the order of names is that of the items, with numbers as numbers', async () => {
  await insertPending(database.pool, {
    id: 'ordered',
    totalCount: 4,
    files: [{ name: 'old.png', url: 'https://a.example/' }],
  });
  const path = await folder('ordered', {
    '10.txt': 'ten',
    '2.txt': 'two',
    '1.svg': '<svg/>',
    'B.txt': 'b',
    '.DS_Store': 'x',
  });
  await mkdir(join(path, 'more'));
  expect(await upload('ordered', path)).toEqual({
    collection: 'ordered',
    files: 4,
    bytes: 13,
    known: 0,
    leftOut: ['.DS_Store', 'more'],
  });
  expect(await listed('ordered')).toEqual([
    { place: 0, name: '1.svg', url: null, bytes: 6, type: 'image/svg+xml' },
    { place: 1, name: '2.txt', url: null, bytes: 3, type: 'text/plain;charset=utf-8' },
    { place: 2, name: '10.txt', url: null, bytes: 3, type: 'text/plain;charset=utf-8' },
    { place: 3, name: 'B.txt', url: null, bytes: 1, type: 'text/plain;charset=utf-8' },
  ]);
});

test('an interrupted run changes nothing, and the next one writes the missing files', async () => {
  await insertPending(database.pool, { id: 'resumed', totalCount: 60, files: [] });
  const path = await folder(
    'resumed',
    Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [`${nth}.txt`, `resumed ${nth}`])),
  );
  const controller = new AbortController();
  const reason = new Error('interrupted');
  await expect(
    upload('resumed', path, controller.signal, (stored) => {
      if (stored === 20) controller.abort(reason);
    }),
  ).rejects.toBe(reason);
  expect(await listed('resumed')).toEqual([]);
  const disk = new CountedDisk();
  const { known, files: uploaded } = await upload('resumed', path, undefined, undefined, disk);
  expect(uploaded).toBe(60);
  expect(known).toBeGreaterThanOrEqual(20);
  expect(disk.puts).toBe(60 - known);
  expect(await listed('resumed')).toHaveLength(60);
});

test('all faults of a folder are shown together, and nothing is changed', async () => {
  await insertPending(database.pool, { id: 'faulty', totalCount: 9, files: [] });
  const path = await folder('faulty', {
    'empty.txt': '',
    'program.exe': 'x',
    [`${'x'.repeat(197)}.txt`]: 'long',
    'fine.txt': 'fine',
  });
  await expect(upload('faulty', path)).rejects.toMatchObject({
    code: 'mint_files_wrong',
    details: {
      faults: [
        {
          where: 'The folder',
          why: 'has 4 files, but totalCount is 9; use a folder with totalCount files, or with one file for an edition',
        },
        { where: 'empty.txt', why: expect.stringContaining('is empty') as unknown },
        {
          where: 'program.exe',
          why: expect.stringContaining('has a type that cannot be inscribed') as unknown,
        },
        {
          where: `${'x'.repeat(197)}.txt`,
          why: expect.stringContaining('more than 200 characters') as unknown,
        },
      ],
    },
  });
  expect(await listed('faulty')).toEqual([]);
});

test('only files of a pending collection are replaced', async () => {
  await insertPending(database.pool, { id: 'refused', totalCount: 1, files: [] });
  await database.pool.query(
    `UPDATE service.mint_collections SET state = 'refused', decided_at = now() WHERE id = 'refused'`,
  );
  const path = await folder('one', { 'a.txt': 'a' });
  await expect(upload('refused', path)).rejects.toMatchObject({ code: 'mint_decided' });
  await expect(upload('unknown', path)).rejects.toMatchObject({ code: 'mint_unknown' });
  await rm(path, { recursive: true });
  await insertPending(database.pool, { id: 'no-folder', totalCount: 1, files: [] });
  await expect(upload('no-folder', path)).rejects.toMatchObject({ code: 'mint_folder_unreadable' });
});
