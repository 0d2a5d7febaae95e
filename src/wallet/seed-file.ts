import { generateMnemonic, mnemonicToSeed, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { AppError } from '#kernel/errors/app-error.ts';
import { readPrivateFile, writePrivateFile } from '#kernel/private-file.ts';

/** Number of bits of entropy. 256 bits make 24 words. */
const entropyBits = 256;
/** Maximum number of bytes to read. 24 words have at most 215 characters, so a longer file cannot be a seed file. */
const readBytesMax = 1024;

/** Makes new seed words from the system's random numbers. */
export const newSeedWords = (): string => generateMnemonic(wordlist, entropyBits);

/**
 * Writes words to a file that only its owner may read. Either the complete file is written, or nothing. Throws
 * `wallet_seed_exists` if the name already exists, even as a broken link.
 */
export async function writeSeedFile(path: string, words: string): Promise<void> {
  const isWritten = await writePrivateFile(path, `${words}\n`).catch((error: unknown) => {
    throw writeFailure(path, error);
  });
  if (!isWritten) throw new AppError('wallet_seed_exists', `The file ${path} already exists.`);
}

function writeFailure(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new AppError(
      'output_failed',
      `The seed file cannot be ${path}, because its folder does not exist. Make the folder first.`,
    );
  if (code === undefined) return error;
  return new AppError('output_failed', `The seed file ${path} cannot be written (${code}).`);
}

/**
 * Reads the seed from a file with BIP 39 words, without a passphrase. Throws `wallet_seed_missing`. Throws
 * `wallet_seed_refused` if other users may read the file or have created it, or if the content is not a seed. No
 * message contains any part of the content.
 */
export async function readSeedFile(path: string): Promise<Uint8Array> {
  const file = await readPrivateFile(path, readBytesMax);
  if (file.kind === 'missing') throw new AppError('wallet_seed_missing', `There is no seed file ${path}.`);
  if (file.kind === 'refused') throw refused(path, file.fault);
  const words = file.bytes.toString('utf8').trim().toLowerCase().split(/\s+/u);
  const mnemonic = words.join(' ');
  if (!validateMnemonic(mnemonic, wordlist)) {
    const count = mnemonic === '' ? 0 : words.length;
    throw refused(
      path,
      `it must have the 12 to 24 English words of a BIP 39 seed and nothing else, but it has ${count} words, or one of its words is wrong`,
    );
  }
  return mnemonicToSeed(mnemonic);
}

const refused = (path: string, fault: string): AppError =>
  new AppError('wallet_seed_refused', `The seed file ${path} is refused, because ${fault}.`);
