import { access, constants, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type pg from 'pg';
import { differingFiles } from '#backups/backed-up-files.ts';
import { type BackupManifest, backupParts, secretBytesMax } from '#backups/backup-manifest.ts';
import { mayRecreateService, usedTables } from '#backups/service-catalog.queries.ts';
import { readBackedUp } from '#backups/verify-backup.ts';
import { indexedNetwork } from '#chain/blocks/index-tip.queries.ts';
import { type Config, hasEmbeddedDatabase } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { advisoryLocks, takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { servedNetwork } from '#kernel/pg/served-network.ts';
import { unlessTableMissing } from '#kernel/pg/unless-table-missing.ts';
import { readPrivateFile } from '#kernel/private-file.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import { readersName } from '#src/app/database/database.ts';
import { diskRoomOf, nearestFolder } from '#src/app/reports/disk-room.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import { readMark } from '#wallet/indices/mark-file.ts';
import { openSigner } from '#wallet/signer.ts';

/** Bytes on the disk of the embedded database for a byte of text: rows, their indexes, and the log of the load. */
const diskBytesPerTextByte = 4;
/** Bytes on the disk beside each file of a customer: the rest of its last block. */
const besideFileBytes = 4096;
/** Number of tables that a message names. */
const namedMax = 5;

export const refused = (reason: string, details: Readonly<Record<string, unknown>> = {}): AppError =>
  new AppError('restore_refused', reason, details);

/**
 * Keeps services from starting their work in this database until the connection ends. Throws `database_busy` if a
 * process uses the database.
 */
export async function refuseBesideService(client: pg.ClientBase): Promise<void> {
  const busy = (): AppError =>
    new AppError('database_busy', 'A service runs with this database: stop it first.', { lock: 'service' });
  await takeAdvisoryLock(client, 'service').catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'database_busy') throw busy();
    throw error;
  });
  // an `api` process holds no lock, and uses the connections of its readers
  const { rowCount } = await client.query(
    `SELECT FROM pg_locks
      WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (classid = 0 AND objid::bigint = ANY ($1::bigint[]) OR classid::bigint = ANY ($1::bigint[]))
      UNION ALL
     SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND starts_with(application_name, $2)`,
    [Object.values(advisoryLocks), readersName],
  );
  if (rowCount !== 0) throw busy();
}

/** Throws `network_mismatch` if the database or the settings name another network than the backup. */
export async function requireNetwork(
  client: pg.ClientBase,
  config: Config,
  { network }: BackupManifest,
): Promise<void> {
  if (network === null) return;
  const named = [
    ['The settings name', config.network ?? null],
    ['The database serves', await unlessTableMissing(servedNetwork(client))],
    ['The database has an index of', await unlessTableMissing(indexedNetwork(client))],
  ] as const;
  for (const [what, other] of named)
    if (other !== null && other !== network)
      throw new AppError('network_mismatch', `${what} ${other}, and the backup is of ${network}.`, {
        network,
        other,
      });
}

/** Throws `restore_refused` if the database has rows of a service, or its role cannot make the schema again. */
export async function requireEmptyService(client: pg.ClientBase): Promise<void> {
  const used = await usedTables(client);
  if (used.length > 0) {
    const named = used.slice(0, namedMax).map(({ name, rows }) => `${rows} in ${name}`);
    const more = used.length > namedMax ? `, and rows in ${used.length - namedMax} more tables` : '';
    throw refused(
      `The database is that of a service: it has rows (${named.join(', ')}${more}). A restore needs an empty database.`,
      { used },
    );
  }
  if (!(await mayRecreateService(client)))
    throw refused(
      'The user of DATABASE_URL may not create schemas in this database, or does not own the schema service. Give it CREATE on the database and the schema.',
    );
}

/** Files of the service on this machine. */
export interface RestorePlaces {
  readonly filesDir: string;
  readonly secretFile: string;
  /** Null: the backup has no wallet. */
  readonly wallet: { readonly seedFile: string; readonly markFile: string } | null;
}

/** The state of this machine's files before a restore. */
export interface FoundFiles {
  /** Whether the seed file is on this machine. */
  readonly hasSeed: boolean;
  /** The mark on this machine; null: there is no mark. */
  readonly mark: BranchEnds | null;
}

/** Throws `restore_refused` if a file of this machine has other content than the backup, or its folder is missing. */
export async function requireFreePlaces(
  dir: string,
  manifest: BackupManifest,
  places: RestorePlaces,
  signal: AbortSignal,
): Promise<FoundFiles> {
  await requireSameSecret(dir, places.secretFile);
  const listed = join(dir, backupParts.fileList);
  const [first] = await differingFiles(new CustomerFiles(places.filesDir), listed, signal);
  if (first !== undefined)
    throw refused(
      `The file ${first} in ${places.filesDir} is damaged: its bytes are not those of its name. Move it away.`,
    );
  const { wallet } = manifest;
  if (wallet === null || places.wallet === null) return { hasSeed: false, mark: null };
  const { seedFile, markFile } = places.wallet;
  for (const file of [seedFile, markFile])
    await access(dirname(resolve(file)), constants.W_OK | constants.X_OK).catch(
      (error: NodeJS.ErrnoException) => {
        throw refused(`The folder of ${file} cannot be written (${error.code}): make it first.`);
      },
    );
  return { hasSeed: await requireSameSeed(seedFile, wallet), mark: await foundMark(markFile, wallet) };
}

type Wallet = NonNullable<BackupManifest['wallet']>;

/** Returns whether the seed file exists. */
async function requireSameSeed(seedFile: string, wallet: Wallet): Promise<boolean> {
  try {
    await openSigner(seedFile, wallet);
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'wallet_seed_missing') return false;
    throw refused(
      `${error.message} It is not written over: move it away, or name another file with WALLET_SEED_FILE.`,
    );
  }
}

async function foundMark(markFile: string, wallet: Wallet): Promise<BranchEnds | null> {
  try {
    return await readMark(markFile, wallet);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw refused(
      `The mark file ${markFile} cannot be used (${error.code}). Bring back the newest mark of this wallet; if there is none, move the file away, and the restore continues beyond the mark of the backup.`,
    );
  }
}

async function requireSameSecret(dir: string, secretFile: string): Promise<void> {
  const backedUp = await readBackedUp(dir, backupParts.secret);
  if (backedUp === null) return;
  const file = await readPrivateFile(secretFile, secretBytesMax);
  if (file.kind === 'missing') return;
  if (file.kind === 'refused' || !file.bytes.equals(backedUp))
    throw refused(
      `The file ${secretFile} has another secret than the backup: receivers would learn other keys of webhooks. It is not written over: move it away, or name another file with SERVICE_SECRET_FILE.`,
    );
}

/** Throws `restore_refused` if the files or the embedded database do not fit on their disks. */
export async function requireRoom(config: Config, manifest: BackupManifest, filesDir: string): Promise<void> {
  const files = manifest.files.bytes + manifest.files.count * besideFileBytes;
  const tables = manifest.tables.reduce((sum, { textBytes }) => sum + textBytes, 0) * diskBytesPerTextByte;
  const wanted = [
    { folder: await nearestFolder(filesDir), bytes: files },
    ...(hasEmbeddedDatabase(config) ? [{ folder: await nearestFolder(config.dataDir), bytes: tables }] : []),
  ];
  const disks = new Map<number, { folder: string; bytes: number }>();
  for (const { folder, bytes } of wanted) {
    const { dev } = await stat(folder);
    disks.set(dev, { folder, bytes: bytes + (disks.get(dev)?.bytes ?? 0) });
  }
  for (const { folder, bytes } of disks.values()) {
    const { freeBytes } = await diskRoomOf(folder);
    if (freeBytes < bytes)
      throw refused(
        `The disk of ${folder} has ${megabytes(freeBytes)} free, and the restore needs ${megabytes(bytes)}: make room.`,
      );
  }
}

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;
