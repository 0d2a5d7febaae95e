import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type pg from 'pg';
import { restoreFiles } from '#backups/backed-up-files.ts';
import { type BackupManifest, backupParts, checkMigrations } from '#backups/backup-manifest.ts';
import type { BackupProgress, BackupWork } from '#backups/backup-progress.ts';
import { loadService } from '#backups/load-tables.ts';
import { dropService } from '#backups/service-catalog.queries.ts';
import { readBackedUp, readManifest, verifyBackup } from '#backups/verify-backup.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { systemFailure } from '#kernel/errors/system-failure.ts';
import { migrate, migrationNames, migrationText } from '#kernel/pg/migrate.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { writePrivateFile } from '#kernel/private-file.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { CustomerFiles } from '#orders/files/customer-files.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { migrateServer, openServer, type Server } from '#src/app/database/database.ts';
import { filesDirOf } from '#src/app/ordering/files-dir.ts';
import { markFileOf, seedFileOf } from '#src/app/ordering/wallet.ts';
import { secretFileOf } from '#src/app/ordering/webhooks.ts';
import { withNodeOf } from '#src/app/sources/node.ts';
import { type BranchEnds, endsAt, highestOf } from '#wallet/indices/branch-ends.ts';
import { skippedUsually, skipWithin } from '#wallet/indices/skip-indices.ts';
import type { SearchProgress } from '#wallet/restoring/find-outputs.ts';
import { highestOfChain } from './chain-highest.ts';
import { holdPayments } from './held/begin-hold.ts';
import {
  type FoundFiles,
  type RestorePlaces,
  refuseBesideService,
  requireEmptyService,
  requireFreePlaces,
  requireNetwork,
  requireRoom,
} from './restore-checks.ts';
import { type UnsignedPayments, unsignedPayments } from './unsigned-payments.ts';

/** How long the end of a restore may take after Ctrl-C, in ms: the server rolls the load back. */
const stopMs = 60_000;

export interface RestoreWishes {
  /** Number of consecutive indices without an output after which the search of the chain ends. */
  readonly gapOf: (isMarked: boolean) => number;
  /** Whether the chain is searched for used addresses. */
  readonly isChainAsked: boolean;
  readonly onProgress: (progress: BackupProgress) => void;
  readonly onSearch: (progress: SearchProgress) => void;
}

/** The state of the service after a restore. */
export interface RestoredService {
  readonly manifest: BackupManifest;
  readonly places: RestorePlaces;
  /** Whether the seed file is on this machine now. */
  readonly hasSeed: boolean;
  /** First index of each branch that the service shows from now on; null: it has no wallet. */
  readonly next: BranchEnds | null;
  /** Whether the chain was asked for used addresses. */
  readonly isChainAsked: boolean;
  readonly copiedFiles: number;
  /** Payments to others that the backup knows as asked for and not signed. */
  readonly unsigned: UnsignedPayments;
}

/** A restore that was checked, and has changed nothing yet. */
interface CheckedRestore {
  readonly dir: string;
  readonly manifest: BackupManifest;
  readonly places: RestorePlaces;
  readonly found: FoundFiles;
  /** Indices below these ends may have been shown. */
  readonly known: BranchEnds;
}

/**
 * Restores a backup into the database and the files of the settings. Everything is checked first, and a fault changes
 * nothing. A failure after that leaves an empty service, and the restore can be run again.
 */
export async function restoreService(
  context: CommandContext,
  dir: string,
  wishes: RestoreWishes,
): Promise<RestoredService> {
  const { lifecycle } = context;
  const manifest = await readManifest(resolve(dir));
  checkMigrations(manifest, await migrationNames('service'));
  const places = placesOf(context, manifest);
  return lifecycle.run(
    'restore',
    async (signal) => {
      await verifyBackup(resolve(dir), manifest, { signal, onProgress: wishes.onProgress });
      const server = await openServer(context, 'attach');
      const client = await connectClient(server.url, 'satscribe restore');
      try {
        const checked = await check(context, client, { dir: resolve(dir), manifest, places }, wishes, signal);
        const { copiedFiles, next } = await load(client, server, checked, { ...wishes, signal }).catch(
          leftEmpty,
        );
        failpoint('restore-loaded');
        await migrateServer(context, server);
        const isSeedBackedUp = (await readBackedUp(checked.dir, backupParts.seed)) !== null;
        return {
          manifest,
          places,
          hasSeed: checked.found.hasSeed || isSeedBackedUp,
          next,
          isChainAsked: wishes.isChainAsked,
          copiedFiles,
          unsigned: await unsignedPayments(client),
        };
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    stopMs,
  );
}

function placesOf(context: CommandContext, { wallet }: BackupManifest): RestorePlaces {
  const { config } = context;
  const files = { filesDir: filesDirOf(config), secretFile: secretFileOf(config) };
  if (wallet === null) return { ...files, wallet: null };
  const seedFile = seedFileOf(context);
  return { ...files, wallet: { seedFile, markFile: markFileOf(config, seedFile) } };
}

async function check(
  context: CommandContext,
  client: pg.ClientBase,
  backup: Pick<CheckedRestore, 'dir' | 'manifest' | 'places'>,
  wishes: RestoreWishes,
  signal: AbortSignal,
): Promise<CheckedRestore> {
  const { config } = context;
  const { dir, manifest, places } = backup;
  await refuseBesideService(client);
  await requireNetwork(client, config, manifest);
  await requireEmptyService(client);
  const found = await requireFreePlaces(dir, manifest, places, signal);
  await requireRoom(config, manifest, places.filesDir);
  const none = endsAt(0);
  const { database, mark } = manifest.ends;
  const known = highestOf(database ?? none, mark ?? none, found.mark ?? none);
  const { wallet } = manifest;
  if (wallet === null || !wishes.isChainAsked) return { ...backup, found, known };
  let highest = known;
  await withNodeOf(context, wallet.network, async (node) => {
    const gap = wishes.gapOf(found.mark !== null);
    highest = await highestOfChain({ node, wallet, known, gap, signal, onProgress: wishes.onSearch });
  });
  return { ...backup, found, known: highest };
}

/** Empties the service, and puts files, secrets and rows in place. The rows are last, in one transaction. */
async function load(
  client: pg.ClientBase,
  { url }: Server,
  { dir, manifest, places, known }: CheckedRestore,
  work: BackupWork,
): Promise<Pick<RestoredService, 'copiedFiles' | 'next'>> {
  await dropService(client);
  failpoint('restore-emptied');
  await migrate(url, { serviceMax: manifest.migrations.length });
  const copiedFiles = await restoreFiles(
    new CustomerFiles(join(dir, backupParts.files)),
    new CustomerFiles(places.filesDir),
    join(dir, backupParts.fileList),
    manifest.files,
    work,
  );
  await putSecrets(dir, places);
  failpoint('restore-files');
  const next = await loadService(client, {
    ...work,
    url,
    dir,
    manifest,
    beforeCommit: async (tx) => {
      const from = await skipShown(tx, manifest, places, known);
      await holdRows(tx, manifest);
      failpoint('restore-marked');
      return from;
    },
  });
  return { copiedFiles, next };
}

/**
 * Continues at indices that were never shown: 1,000,000 beyond the backup, its mark, the mark of this machine and the
 * chain. The mark of this machine is raised on its disk before the rows are committed.
 */
async function skipShown(
  tx: pg.ClientBase,
  { wallet }: BackupManifest,
  places: RestorePlaces,
  known: BranchEnds,
): Promise<BranchEnds | null> {
  if (wallet === null || places.wallet === null) return null;
  const { markFile } = places.wallet;
  return skipWithin(tx, { markFile, owner: wallet, by: skippedUsually, atLeast: known });
}

/**
 * Holds payments to others in the transaction that loads the rows, so that no start of the service can make a payment
 * again that was made after the backup. A backup of an earlier version does not have the table of holds.
 */
async function holdRows(
  tx: pg.ClientBase,
  { wallet, createdAt, ends, migrations }: BackupManifest,
): Promise<void> {
  if (wallet === null) return;
  for (const name of holdsMigrations)
    if (!migrations.includes(name)) await tx.query(await migrationText('service', name));
  await holdPayments(tx, new Date(createdAt), ends.database ?? endsAt(0));
}

/** The migrations that make the table of holds. They can be repeated. */
const holdsMigrations = ['0061_payment-holds', '0063_ends-of-later-restores'];

/** Puts the seed and the secret in place. Files that exist were compared, and stay. */
async function putSecrets(dir: string, { secretFile, wallet }: RestorePlaces): Promise<void> {
  const [secret, seed] = [
    await readBackedUp(dir, backupParts.secret),
    await readBackedUp(dir, backupParts.seed),
  ];
  if (secret !== null) {
    await mkdir(dirname(resolve(secretFile)), { recursive: true, mode: 0o700 });
    await writePrivateFile(secretFile, secret);
  }
  if (seed !== null && wallet !== null) await writePrivateFile(wallet.seedFile, seed);
}

/** Says that a failure left an empty service. */
function leftEmpty(thrown: unknown): never {
  const error = postgresFailure(systemFailure(thrown));
  if (!(error instanceof AppError)) throw error;
  throw new AppError(
    error.code,
    `${error.message} The restore ended: the service is empty, files that were put in place stay, and the same command can be run again.`,
    error.details,
    error,
  );
}
