import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CustomerFiles } from '#orders/files/customer-files.ts';

test('every call names a path that is not a folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'files-'));
  try {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const files = new CustomerFiles(file);
    const name = 'a'.repeat(64);
    for (const work of [
      () => files.put(Buffer.from('text')),
      () => files.freeBytes(),
      () => files.get(Buffer.alloc(32)),
      () => files.list('aa'),
      () => files.remove(name, new Date()),
      () => files.bringBack(`${name}.aside`),
    ])
      await expect(work()).rejects.toMatchObject({
        code: 'file_unusable',
        message: expect.stringContaining(file) as string,
      });
  } finally {
    await rm(folder, { recursive: true });
  }
});
