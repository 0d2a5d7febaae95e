import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { AppError } from '#kernel/errors/app-error.ts';
import { readPrivateFile } from '#kernel/private-file.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { identityOfSeedFile } from '#wallet/signer.ts';
import { verifyFiles } from './backed-up-files.ts';
import {
  type BackedUpTable,
  type BackupManifest,
  backupParts,
  damaged,
  fileOfTable,
  parseManifest,
  secretBytesMax,
} from './backup-manifest.ts';
import type { BackupWork } from './backup-progress.ts';

/** Maximum number of bytes of `backup.json`. 1,000 tables with 50 columns have 2 MB. */
const manifestBytesMax = 16_000_000;
const newline = 10;

/** Throws `file_unusable` if there is no such folder, for example because its path has a typo. */
async function requireFolder(dir: string): Promise<void> {
  const found = await stat(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (found?.isDirectory() !== true)
    throw new AppError('file_unusable', `There is no folder ${dir}: a backup is a folder.`);
}

/** Reads `backup.json`. Throws `file_unusable`, `backup_damaged` and `backup_newer`. */
export async function readManifest(dir: string): Promise<BackupManifest> {
  await requireFolder(dir);
  const path = join(dir, backupParts.manifest);
  const text = await reading(backupParts.manifest, async () => {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size > manifestBytesMax) throw damaged(`${backupParts.manifest} has ${size} bytes`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  });
  return parseManifest(text);
}

/** Reads every byte of a backup. Throws `backup_damaged` if a part is missing or was changed. */
export async function verifyBackup(dir: string, manifest: BackupManifest, work: BackupWork): Promise<void> {
  const of = manifest.tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  for (const table of manifest.tables) {
    await verifyTable(dir, table, work.signal);
    done += table.bytes;
    work.onProgress({ step: 'check of tables', done, of });
  }
  const list = join(dir, backupParts.fileList);
  await reading(backupParts.fileList, () =>
    verifyFiles(new CustomerFiles(join(dir, backupParts.files)), list, manifest.files, work),
  );
  await verifySecret(dir, manifest);
  await verifySeed(dir, manifest);
}

async function verifyTable(dir: string, table: BackedUpTable, signal: AbortSignal): Promise<void> {
  const file = fileOfTable(table.name);
  const hash = createHash('sha256');
  let [bytes, textBytes, rows] = [0, 0, 0];
  const faults = await reading(file, () =>
    pipeline(
      createReadStream(join(dir, backupParts.tables, file)),
      async function* hashed(source: AsyncIterable<Buffer>) {
        for await (const part of source) {
          hash.update(part);
          bytes += part.length;
          yield part;
        }
      },
      createZstdDecompress(),
      async (source: AsyncIterable<Buffer>) => {
        for await (const part of source) {
          textBytes += part.length;
          rows += newlinesIn(part);
        }
      },
      { signal },
    ).then(
      () => null,
      (error: unknown) => {
        if (isZstdError(error)) return 'its bytes were changed';
        throw error;
      },
    ),
  );
  if (faults !== null) throw damaged(`${file}: ${faults}`);
  if (hash.digest('hex') !== table.sha256 || bytes !== table.bytes)
    throw damaged(`${file}: it is cut short, or its bytes were changed`);
  if (rows !== table.rows || textBytes !== table.textBytes)
    throw damaged(`${file}: it has ${rows} rows, not ${table.rows}`);
}

/** Rows in the text format of COPY, each of which ends with a newline; newlines in values are escaped. */
function newlinesIn(part: Buffer): number {
  let found = 0;
  for (let at = part.indexOf(newline); at !== -1; at = part.indexOf(newline, at + 1)) found++;
  return found;
}

const isZstdError = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && /^(?:ZSTD_|Z_|ERR_ZLIB)/u.test(code);
};

async function verifySecret(dir: string, { secret }: BackupManifest): Promise<void> {
  if (secret === null) return;
  const bytes = await readBackedUp(dir, backupParts.secret);
  if (bytes === null) throw damaged(`${backupParts.secret} is missing`);
  if (createHash('sha256').update(bytes).digest('hex') !== secret)
    throw damaged(`${backupParts.secret} was changed`);
}

/** The seed of a backup, if it is there, must be the seed of its wallet. An operator may keep it apart. */
async function verifySeed(dir: string, { wallet }: BackupManifest): Promise<void> {
  if ((await readBackedUp(dir, backupParts.seed)) === null) return;
  if (wallet === null) throw damaged('it has a seed and no wallet');
  const found = await identityOfSeedFile(join(dir, backupParts.seed), wallet.network);
  if (found.accountXpub !== wallet.accountXpub || found.masterFingerprint !== wallet.masterFingerprint)
    throw damaged(`${backupParts.seed} is the seed of another wallet`);
}

/** The seed or the secret in a backup; null: it is missing. Throws `backup_damaged` if others may read it. */
export async function readBackedUp(
  dir: string,
  part: typeof backupParts.seed | typeof backupParts.secret,
): Promise<Buffer | null> {
  const file = await readPrivateFile(join(dir, part), secretBytesMax);
  if (file.kind === 'refused') throw damaged(`${part}: ${file.fault}`);
  return file.kind === 'missing' ? null : file.bytes;
}

/** Reads a part of a backup. Throws `backup_damaged` if it is missing. */
async function reading<Result>(part: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw damaged(`${part} is missing`);
    throw error;
  }
}
