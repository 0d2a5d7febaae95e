import { resolve } from 'node:path';
import type { BackupManifest } from '#backups/backup-manifest.ts';
import type { BackupWork } from '#backups/backup-progress.ts';
import { writeBackup } from '#backups/write-backup.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { openServer } from '#src/app/database/database.ts';
import { filesDirOf } from '#src/app/ordering/files-dir.ts';
import { markFileOf } from '#src/app/ordering/wallet.ts';
import { secretFileOf } from '#src/app/ordering/webhooks.ts';
import { readWallet } from '#wallet/wallet.store.ts';

/** How long the end of a backup may take after Ctrl-C, in ms: the unfinished folder is deleted. */
const stopMs = 60_000;

export interface BackupWishes {
  readonly isSeedLeftOut: boolean;
  readonly mayFilesBeMissing: boolean;
  readonly onProgress: BackupWork['onProgress'];
}

/**
 * Writes a backup of the service of the settings. The database is not migrated. Throws `UsageError` if the database has
 * a wallet and no seed file is named.
 */
export async function backUpService(
  context: CommandContext,
  dir: string,
  { isSeedLeftOut, mayFilesBeMissing, onProgress }: BackupWishes,
): Promise<BackupManifest> {
  const { config, lifecycle } = context;
  const { url } = await openServer(context, 'existing');
  const client = await connectClient(url, 'satscribe backup');
  lifecycle.add('connection of the backup', () => client.end());
  const { walletSeedFile } = config;
  if (walletSeedFile === undefined && !isSeedLeftOut && (await readWallet(client)) !== null)
    throw new UsageError(
      'the database has a wallet: name its seed file with --seed-file FILE or WALLET_SEED_FILE, or leave the seed out with --without-seed',
    );
  const sources = {
    client,
    url,
    filesDir: filesDirOf(config),
    mayFilesBeMissing,
    secretFile: secretFileOf(config),
    seedFile: isSeedLeftOut ? null : (walletSeedFile ?? null),
    markFile:
      walletSeedFile === undefined ? (config.walletMarkFile ?? null) : markFileOf(config, walletSeedFile),
  };
  return lifecycle.run(
    'backup',
    (signal) => writeBackup(resolve(dir), sources, { signal, onProgress }),
    stopMs,
  );
}
