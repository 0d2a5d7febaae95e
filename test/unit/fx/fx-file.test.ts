import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FxFile } from '#fx/fx-file.ts';

let folder = '';
let path = '';
let now = 0;
let told: (string | null)[] = [];
let file: FxFile;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'satscribe-fx-'));
  path = join(folder, 'rates.json');
  now = Date.now();
  told = [];
  file = new FxFile(path, { now: () => now, onProblem: (reason) => told.push(reason) });
});
afterEach(() => rm(folder, { recursive: true }));

const bitcoin = async (): Promise<bigint | undefined> => (await file.rates())?.usd.get('bitcoin')?.digits;
const write = (price: number, more: object = {}) =>
  writeFile(path, JSON.stringify({ bitcoin: { usd: price }, ...more }));

test('a changed file is read again, at most once in some seconds', async () => {
  await write(5);
  expect(await bitcoin()).toBe(5n);
  await write(60);
  now += 1000;
  expect(await bitcoin()).toBe(5n);
  now += 5000;
  expect(await bitcoin()).toBe(60n);
  expect(told).toEqual([]);
});

test('a missing, broken or long file has no rates, which is said once', async () => {
  expect([await bitcoin(), await bitcoin()]).toEqual([undefined, undefined]);
  expect(told).toEqual([expect.stringContaining('ENOENT')]);
  now += 5000;
  await writeFile(path, '{');
  expect(await bitcoin()).toBeUndefined();
  now += 5000;
  expect(await bitcoin()).toBeUndefined();
  await writeFile(path, 'x'.repeat(65_537));
  now += 5000;
  expect(await bitcoin()).toBeUndefined();
  await write(7);
  now += 5000;
  expect(await bitcoin()).toBe(7n);
  expect(told.slice(1)).toEqual([
    'it is not a JSON object',
    'it has 65537 bytes, but at most 65536 are allowed',
    null,
  ]);
});

test("rates of more than an hour ago count as none, by their time in the file or by the file's own", async () => {
  await write(5, { updatedAt: now - 3_500_000 });
  expect(await bitcoin()).toBe(5n);
  now += 200_000;
  expect(await bitcoin()).toBeUndefined();
  await write(6);
  const old = new Date(now - 4_000_000);
  await utimes(path, old, old);
  now += 5000;
  expect(await bitcoin()).toBeUndefined();
  expect(told).toEqual(['its rates are older than an hour']);
});

test('rates of more than ten minutes in the future count as none, which is said once, until their time comes', async () => {
  const ahead = now + 900_000;
  await write(5, { updatedAt: ahead });
  expect([await bitcoin(), await bitcoin()]).toEqual([undefined, undefined]);
  now += 5000;
  expect(await bitcoin()).toBeUndefined();
  // the clock had been wrong, which may happen by minutes
  now = ahead - 600_000;
  expect(await bitcoin()).toBe(5n);
  // such rates also become too old, like all others
  now = ahead + 3_600_001;
  expect(await bitcoin()).toBeUndefined();
  expect(told).toEqual([
    'its rates are more than ten minutes in the future',
    null,
    'its rates are older than an hour',
  ]);
});

test('a file that was written in the future counts as none', async () => {
  await write(5);
  const later = new Date(now + 700_000);
  await utimes(path, later, later);
  expect(await bitcoin()).toBeUndefined();
  expect(told).toEqual(['its rates are more than ten minutes in the future']);
});
