import {
  chmod,
  chown,
  link,
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
import { inspect } from 'node:util';
import { validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { knownSeed, knownWords, testWallet } from '#test/support/wallet/plans.ts';
import { newSeedWords, readSeedFile, writeSeedFile } from '#wallet/seed-file.ts';
import { openSigner } from '#wallet/signer.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'satscribe-seed-'));
  path = join(folder, 'wallet.seed');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const writeWords = (words: string): Promise<void> => writeFile(path, words, { mode: 0o600 });

describe('a seed file', () => {
  test('is written for its owner alone, and read back', async () => {
    await writeSeedFile(path, knownWords);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['wallet.seed']);
    expect(Buffer.from(await readSeedFile(path))).toEqual(Buffer.from(knownSeed));
  });

  test('is never overwritten, nor is a link in its place followed', async () => {
    await writeWords('precious');
    await expect(writeSeedFile(path, knownWords)).rejects.toMatchObject({ code: 'wallet_seed_exists' });
    expect(await readFile(path, 'utf8')).toBe('precious');
    const dangling = join(folder, 'dangling');
    await symlink(join(folder, 'elsewhere'), dangling);
    await expect(writeSeedFile(dangling, knownWords)).rejects.toMatchObject({ code: 'wallet_seed_exists' });
    expect((await readdir(folder)).toSorted()).toEqual(['dangling', 'wallet.seed']);
  });

  test('needs a folder', async () => {
    const missing = writeSeedFile(join(folder, 'none', 'wallet.seed'), knownWords);
    await expect(missing).rejects.toMatchObject({ code: 'output_failed' });
  });

  test('may have its words in lines and capitals', async () => {
    await writeWords(`  ${knownWords.toUpperCase().replaceAll(' ', '\n')}\n\n`);
    expect(Buffer.from(await readSeedFile(path))).toEqual(Buffer.from(knownSeed));
  });

  test.each([0o640, 0o604, 0o660, 0o601, 0o644])('with the mode %o is refused', async (mode) => {
    await writeWords(knownWords);
    await chmod(path, mode);
    const read = readSeedFile(path);
    await expect(read).rejects.toMatchObject({ code: 'wallet_seed_refused' });
    await expect(read).rejects.toThrow(/chmod 600/u);
  });

  test('that is missing, a link, a folder or too long is refused', async () => {
    await expect(readSeedFile(path)).rejects.toMatchObject({ code: 'wallet_seed_missing' });
    await writeWords(knownWords);
    const linked = join(folder, 'linked');
    await symlink(path, linked);
    await expect(readSeedFile(linked)).rejects.toThrow(/it is a link/u);
    await expect(readSeedFile(folder)).rejects.toMatchObject({ code: 'wallet_seed_refused' });
    await writeWords(`${knownWords} `.repeat(20));
    await expect(readSeedFile(path)).rejects.toThrow(/bytes/u);
  });

  test.skipIf(process.geteuid?.() !== 0)('of another user is refused', async () => {
    await writeWords(knownWords);
    await chown(path, 12_345, 12_345);
    await expect(readSeedFile(path)).rejects.toThrow(/belongs to user 12345/u);
  });

  test.each([
    '',
    'abandon',
    knownWords.replace('about', 'abandon'),
    'secretword '.repeat(12),
    'ff'.repeat(32),
  ])('with other content is refused, and no message has any of it', async (content) => {
    await writeWords(content);
    const failure: unknown = await readSeedFile(path).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'wallet_seed_refused' });
    const told = inspect(failure, { depth: null });
    for (const word of content.split(/\s+/u).filter((one) => one !== '')) expect(told).not.toContain(word);
  });

  test('of another wallet, or for another network, opens no signer', async () => {
    await writeSeedFile(path, newSeedWords());
    const mismatch = openSigner(path, testWallet().wallet.identity);
    await expect(mismatch).rejects.toMatchObject({ code: 'wallet_seed_mismatch' });
    await link(path, join(folder, 'other'));
    await rm(path);
    await writeWords(knownWords);
    const { identity } = testWallet('mainnet').wallet;
    await expect(openSigner(path, identity)).resolves.toBeDefined();
    const otherNetwork = { ...identity, network: 'regtest' as const };
    await expect(openSigner(path, otherNetwork)).rejects.toMatchObject({ code: 'wallet_seed_mismatch' });
  });
});

test('new words are 24, of BIP 39, and never the same', () => {
  const words = newSeedWords();
  expect(words.split(' ')).toHaveLength(24);
  expect(validateMnemonic(words, wordlist)).toBe(true);
  expect(newSeedWords()).not.toBe(words);
});
