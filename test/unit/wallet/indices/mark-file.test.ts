import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { markText, raiseMark, readMark, writeMark } from '#wallet/indices/mark-file.ts';

const owner = { network: 'regtest', masterFingerprint: '73c5da0a' } as const;
const ends = (orders: number, own: number) => ({ orders, own, fees: own });
let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'satscribe-mark-'));
  path = join(folder, 'wallet.seed.mark');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the mark of a wallet', () => {
  test('is a readable text in a file of the owner alone, and names its wallet', async () => {
    expect(await readMark(path, owner)).toBeNull();
    expect(await raiseMark(path, owner, ends(1000, 1000))).toEqual(ends(1000, 1000));
    expect(await readMark(path, owner)).toEqual(ends(1000, 1000));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const text = await readFile(path, 'utf8');
    expect(JSON.parse(text)).toMatchObject({ version: 2, ...owner, branches: ends(1000, 1000) });
    expect(text).toContain('docs/wallet.md');
    expect(await readdir(folder)).toEqual(['wallet.seed.mark']);
  });

  test('only goes up, each branch separately', async () => {
    await raiseMark(path, owner, ends(1000, 2000));
    expect(await raiseMark(path, owner, ends(900, 500))).toEqual(ends(1000, 2000));
    expect(await raiseMark(path, owner, ends(3000, 500))).toEqual(ends(3000, 2000));
    expect(await readMark(path, owner)).toEqual(ends(3000, 2000));
  });

  test('of a service without fee charges is read, and becomes one of all branches', async () => {
    const older = { version: 1, ...owner, orders: 51_000, own: 40_000 };
    const text = JSON.stringify({ about: 'A mark.', ...older, checksum: '6c1d73f5162d2236da7a89da6507cfcb' });
    await writeFile(path, text, { mode: 0o600 });
    const known = { orders: 51_000, own: 40_000, fees: 0 };
    expect(await readMark(path, owner)).toEqual(known);
    expect(await raiseMark(path, owner, ends(9, 0))).toEqual(known);
    const raised = { orders: 52_000, own: 40_000, fees: 1000 };
    expect(await raiseMark(path, owner, { ...ends(52_000, 9), fees: 1000 })).toEqual(raised);
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ version: 2, branches: raised });
    await writeFile(path, text.replace('51000', '50000'));
    await expect(readMark(path, owner)).rejects.toMatchObject({ code: 'wallet_mark_refused' });
  });

  test('replaces an unfinished one that a crash left', async () => {
    await writeFile(`${path}.new`, '{"about');
    await raiseMark(path, owner, ends(7, 8));
    expect(await readMark(path, owner)).toEqual(ends(7, 8));
    expect(await readdir(folder)).toEqual(['wallet.seed.mark']);
  });

  test.each([
    ['empty', () => ''],
    ['torn', (text: string) => text.slice(0, 100)],
    ['lowered by hand', (text: string) => text.replace('"orders": 1000', '"orders": 100')],
    ['of another version', (text: string) => text.replace('"version": 2', '"version": 3')],
    ['lowered in its last branch', (text: string) => text.replace('"fees": 1000', '"fees": 10')],
    ['too long', (text: string) => text + ' '.repeat(5000)],
    ['no JSON', () => 'mark 1000'],
  ])('is refused if its content is %s', async (_, changed) => {
    await writeMark(path, owner, ends(1000, 1000));
    await writeFile(path, changed(await readFile(path, 'utf8')));
    const refused = { code: 'wallet_mark_refused' };
    await expect(readMark(path, owner)).rejects.toMatchObject(refused);
    await expect(raiseMark(path, owner, ends(2000, 2000))).rejects.toMatchObject(refused);
  });

  test('is refused if others may change it, or replace it by a link', async () => {
    await writeMark(path, owner, ends(1, 1));
    await chmod(path, 0o620);
    await expect(readMark(path, owner)).rejects.toThrow(/chmod 600 corrects this/u);
    const there = join(folder, 'there');
    await writeFile(there, markText(owner, ends(1, 1)), { mode: 0o600 });
    await rm(path);
    await symlink(there, path);
    await expect(readMark(path, owner)).rejects.toThrow(/it is a link/u);
    await rm(path);
    await link(there, path);
    expect(await readMark(path, owner)).toEqual(ends(1, 1));
  });

  test('of another wallet or network is never taken or overwritten', async () => {
    for (const other of [
      { ...owner, masterFingerprint: '00000000' },
      { ...owner, network: 'mainnet' as const },
    ]) {
      await writeMark(path, other, ends(1, 1));
      await expect(readMark(path, owner)).rejects.toMatchObject({ code: 'wallet_mark_mismatch' });
      await expect(raiseMark(path, owner, ends(9, 9))).rejects.toMatchObject({
        code: 'wallet_mark_mismatch',
      });
      expect(await readMark(path, other)).toEqual(ends(1, 1));
    }
  });

  test('says what is wrong if it cannot be written', async () => {
    const nowhere = raiseMark(join(folder, 'absent', 'mark'), owner, ends(1, 1));
    await expect(nowhere).rejects.toMatchObject({ code: 'wallet_mark_unwritable' });
    await mkdir(`${path}.new`);
    await expect(raiseMark(path, owner, ends(1, 1))).rejects.toMatchObject({
      code: 'wallet_mark_unwritable',
    });
  });
});
