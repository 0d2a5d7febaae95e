import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ThumbnailFiles } from '#http/thumbnails/thumbnail-files.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'thumbnail-files-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const stored = async (): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter((name) => name.includes('.picture')).toSorted();

test('the least recently used file is deleted first, also after a restart', async () => {
  const files = new ThumbnailFiles(folder, 8192);
  await files.write('aa', Buffer.from('a'));
  await files.write('bb', Buffer.from('b'));
  expect(await files.read('aa')).toEqual(Buffer.from('a'));
  await files.write('cc', Buffer.from('c'));
  await vi.waitUntil(async () => (await stored()).length === 2);
  expect(await stored()).toEqual(['aa/aa.picture', 'cc/cc.picture']);
  const again = new ThumbnailFiles(folder, 4096);
  expect(await again.read('dd')).toBeNull();
  await vi.waitUntil(async () => (await stored()).length === 1);
});

test('an incomplete file of an ended process is not a thumbnail', async () => {
  await mkdir(join(folder, 'aa'));
  await writeFile(join(folder, 'aa', 'aa.picture.begun'), 'half');
  expect(await new ThumbnailFiles(folder).read('aa')).toBeNull();
  expect(await stored()).toEqual([]);
});
