import { chmod, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureServiceSecret, readServiceSecret } from '#webhooks/service-secret.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'satscribe-secret-'));
  path = join(folder, 'data', 'service-secret');
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

test('a secret is made where there is none, for its owner alone, and stays', async () => {
  const made = await ensureServiceSecret(path);
  expect(made).toHaveLength(32);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await ensureServiceSecret(path)).toEqual(made);
  expect(await readServiceSecret(path)).toEqual(made);
  expect(await readdir(join(folder, 'data'))).toEqual(['service-secret']);
});

test('processes that begin at once have one secret', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => ensureServiceSecret(path)));
  expect(new Set(made.map((secret) => secret.toString('hex'))).size).toBe(1);
});

test('a secret that is read only must be there', async () => {
  await expect(readServiceSecret(path)).rejects.toMatchObject({ code: 'service_secret_missing' });
});

test.each([
  ['is empty', 0, 0o600],
  ['is too short', 31, 0o600],
  ['is too long', 33, 0o600],
  ['others may read', 32, 0o644],
  ['its group may read', 32, 0o640],
])('a file that %s is refused, and not replaced', async (_words, bytes, mode) => {
  const file = join(folder, 'secret');
  await writeFile(file, Buffer.alloc(bytes, 1));
  await chmod(file, mode);
  await expect(ensureServiceSecret(file)).rejects.toMatchObject({ code: 'service_secret_invalid' });
  expect((await stat(file)).size).toBe(bytes);
});

test('where no file can be made, it is said', async () => {
  await writeFile(join(folder, 'file'), '');
  await expect(ensureServiceSecret(join(folder, 'file', 'secret'))).rejects.toMatchObject({
    code: 'service_secret_invalid',
  });
  // the link's target does not exist, and no file is made there
  const link = join(folder, 'link');
  await symlink(join(folder, 'nowhere'), link);
  await expect(ensureServiceSecret(link)).rejects.toMatchObject({ code: 'service_secret_invalid' });
  expect(await readdir(folder)).toEqual(['file', 'link']);
});

test('a link is refused, whatever it leads to: who made it may know the secret', async () => {
  await ensureServiceSecret(path);
  const link = join(folder, 'link');
  await symlink(path, link);
  await expect(readServiceSecret(link)).rejects.toMatchObject({
    code: 'service_secret_invalid',
    message: `The secret of the service at ${link} is refused, because it is a link.`,
  });
});
