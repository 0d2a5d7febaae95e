import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { readPrivateFile, syncFolder, writePrivateFile } from '#kernel/private-file.ts';
import { version } from '#kernel/process/version.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { readMark } from '#wallet/indices/mark-file.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { openSigner } from '#wallet/signer.ts';
import { readWallet } from '#wallet/wallet.store.ts';
import { backUpFiles, countMissing } from './backed-up-files.ts';
import {
  aboutBackup,
  type BackupManifest,
  backupFormat,
  backupParts,
  manifestText,
  secretBytesMax,
} from './backup-manifest.ts';
import type { BackupWork } from './backup-progress.ts';
import { type Dump, dumpService } from './dump-tables.ts';
import { verifyBackup } from './verify-backup.ts';

/** Places of everything that a backup contains. */
export interface BackupSources {
  readonly client: pg.ClientBase;
  /** Address of the database, for messages. */
  readonly url: string;
  readonly filesDir: string;
  /** Whether contents that rows need may be missing: they are lost, and the rest is to be saved. */
  readonly mayFilesBeMissing: boolean;
  /** File of the service's secret; it may be missing. */
  readonly secretFile: string;
  /** Null: the seed is left out. */
  readonly seedFile: string | null;
  /** Null: this machine names no mark file. */
  readonly markFile: string | null;
}

/**
 * Writes a backup into a folder that is empty or does not exist, beside a running service or without one. It is made
 * in another folder beside it, which gets the name once every byte was read back: a backup that was cut short has
 * another name. Throws `backup_exists`, `backup_incomplete`, and the codes of the seed, the mark and the database.
 */
export async function writeBackup(
  dir: string,
  sources: BackupSources,
  work: BackupWork,
): Promise<BackupManifest> {
  await requireEmpty(dir);
  await requireSeed(sources);
  const unfinished = await mkdtemp(`${dir}.unfinished-`);
  try {
    const manifest = await writeParts(unfinished, sources, work);
    await syncFolders(unfinished);
    await verifyBackup(unfinished, manifest, work);
    work.signal.throwIfAborted();
    await rename(unfinished, dir);
    await syncFolder(dirname(dir));
    return manifest;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}

async function requireEmpty(dir: string): Promise<void> {
  const refuse = (fault: string): never => {
    throw new AppError('backup_exists', `No backup is written to ${dir}: ${fault}.`, { dir });
  };
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    if (error.code === 'ENOTDIR') return refuse('it is not a folder');
    throw error;
  });
  if (names === null) return;
  if (names.length > 0) refuse(`it has ${names.length} entries`);
  const [own, parent] = await Promise.all([stat(dir), stat(dirname(dir))]);
  if (own.dev !== parent.dev) refuse('it is the top of a disk, so name a new folder in it');
}

/** The seed must be the seed of the wallet: only then do both belong into one backup. */
async function requireSeed({ client, seedFile }: BackupSources): Promise<void> {
  const wallet = await readWallet(client);
  if (wallet !== null && seedFile !== null) await openSigner(seedFile, wallet);
}

async function writeParts(dir: string, sources: BackupSources, work: BackupWork): Promise<BackupManifest> {
  const { client, url, filesDir, secretFile, seedFile } = sources;
  const [tables, needed] = [join(dir, backupParts.tables), join(dir, 'needed')];
  await mkdir(tables, { mode: 0o700 });
  const createdAt = new Date().toISOString();
  const dump = await dumpService(client, url, { tables, needed }, work);
  // after the dump: both are then above all addresses that the dump knows
  const ends = await endsNow(sources, dump);
  const files = new CustomerFiles(join(dir, backupParts.files));
  const listed = await backUpFiles(new CustomerFiles(filesDir), files, join(dir, backupParts.fileList), work);
  const missing = await countMissing(client, files, needed, {
    signal: work.signal,
    mayBeMissing: sources.mayFilesBeMissing,
  });
  await rm(needed);
  const secret = await copySecret(secretFile, join(dir, backupParts.secret));
  const hasSeed =
    dump.wallet !== null &&
    seedFile !== null &&
    (await copySecret(seedFile, join(dir, backupParts.seed))) !== null;
  const manifest = {
    about: aboutBackup,
    format: backupFormat,
    program: version,
    createdAt,
    ...dump,
    ends,
    files: { ...listed, missing },
    hasSeed,
    secret,
  } as const;
  await writeFile(join(dir, backupParts.manifest), manifestText(manifest), {
    flag: 'wx',
    mode: 0o600,
    flush: true,
  });
  return manifest;
}

/** Ends of the indices that may have been shown until now, by the database and by the mark of this machine. */
async function endsNow(
  { client, markFile }: BackupSources,
  { wallet }: Dump,
): Promise<BackupManifest['ends']> {
  if (wallet === null) return { database: null, mark: null };
  const row = await readRelease(client);
  const mark = markFile === null ? null : await readMark(markFile, wallet);
  return { database: row === null ? null : { ...row.released }, mark: mark === null ? null : { ...mark } };
}

/** Copies a file with a secret, and returns the hash of its bytes; null if it is missing. */
async function copySecret(from: string, to: string): Promise<string | null> {
  const file = await readPrivateFile(from, secretBytesMax);
  if (file.kind === 'missing') return null;
  if (file.kind === 'refused')
    throw new AppError('backup_incomplete', `The file ${from} cannot be backed up: ${file.fault}.`, { from });
  await writePrivateFile(to, file.bytes);
  return createHash('sha256').update(file.bytes).digest('hex');
}

/** Syncs a folder and all folders in it, so that the names of their files survive a loss of power. */
async function syncFolders(dir: string): Promise<void> {
  const entries = await readdir(dir, { withFileTypes: true });
  for (const entry of entries) if (entry.isDirectory()) await syncFolders(join(dir, entry.name));
  await syncFolder(dir);
}
