import { constants, type Stats } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { generateMnemonic, mnemonicToSeed, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { AppError } from '#kernel/errors/app-error.ts';

/** 24 words. */
const entropyBits = 256;
/** 24 words have 215 characters at most; more is another file. */
const readBytesMax = 1024;
const ownerOnly = 0o600;
const othersMask = 0o077;

/** New words for a seed, from the system's random numbers. */
export const newSeedWords = (): string => generateMnemonic(wordlist, entropyBits);

/**
 * Writes words to a file of the owner's alone, whole or not at all. Throws `wallet_seed_exists` where anything has
 * that name already, a broken link too.
 */
export async function writeSeedFile(path: string, words: string): Promise<void> {
  const unfinished = `${path}.${crypto.randomUUID()}`;
  try {
    const file = await open(unfinished, 'wx', ownerOnly);
    try {
      // the mode of `open` is narrowed by the umask
      await file.chmod(ownerOnly);
      await file.writeFile(`${words}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    // takes the name only where it is free; a rename would take it from a file that has it
    await link(unfinished, path);
  } catch (error) {
    throw writeFailure(path, error);
  } finally {
    await rm(unfinished, { force: true });
  }
  await syncFolder(dirname(path));
}

function writeFailure(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') return new AppError('wallet_seed_exists', `There is a file ${path} already.`);
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new AppError('output_failed', `The seed file cannot be ${path}: its folder does not exist.`);
  if (code === undefined) return error;
  return new AppError('output_failed', `The seed file ${path} cannot be written (${code}).`);
}

/** The name of the file survives a loss of power from here on. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * The seed of a file with BIP 39 words, without a passphrase. Throws `wallet_seed_missing`, and `wallet_seed_refused`
 * for a file that others may read or have made, or with other content. No message has any of the content.
 */
export async function readSeedFile(path: string): Promise<Uint8Array> {
  const words = (await readPrivately(path)).trim().toLowerCase().split(/\s+/u);
  const mnemonic = words.join(' ');
  if (!validateMnemonic(mnemonic, wordlist)) {
    const count = mnemonic === '' ? 0 : words.length;
    throw refused(
      path,
      `it must hold the 12 to 24 English words of a BIP 39 seed and nothing else; it has ${count} words, or one of them is wrong`,
    );
  }
  return mnemonicToSeed(mnemonic);
}

async function readPrivately(path: string): Promise<string> {
  // O_NONBLOCK: a pipe opens at once, and is refused
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: unknown) => {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new AppError('wallet_seed_missing', `There is no seed file ${path}.`);
    throw refused(path, code === 'ELOOP' ? 'it is a link' : `it cannot be opened (${code})`);
  });
  try {
    const fault = fileFault(await file.stat());
    if (fault !== null) throw refused(path, fault);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(readBytesMax), 0, readBytesMax, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function fileFault(found: Stats): string | null {
  if (!found.isFile()) return 'it is no ordinary file';
  const user = process.geteuid?.();
  if (user !== undefined && found.uid !== user)
    return `it belongs to user ${found.uid}, and this process is user ${user}`;
  const mode = found.mode & 0o777;
  if ((mode & othersMask) !== 0)
    return `others than its owner may use it (mode ${mode.toString(8)}; chmod 600 mends it)`;
  return found.size > readBytesMax ? `it has ${found.size} bytes` : null;
}

const refused = (path: string, fault: string): AppError =>
  new AppError('wallet_seed_refused', `The seed file ${path} is refused: ${fault}.`);
