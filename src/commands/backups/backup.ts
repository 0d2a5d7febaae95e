import { resolve } from 'node:path';
import type { BackupManifest } from '#backups/backup-manifest.ts';
import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';

const withoutSeed = 'without-seed';
const withoutMissing = 'without-missing-files';

export const backupCommand: Command = {
  name: 'backup',
  object: null,
  operands: 'DIR',
  summary: 'write a checked backup of accounts, orders, files, seed and secret',
  details: `Writes everything that cannot be rebuilt from the chain into a new folder: the rows of accounts,
orders, payments and balances, the files of customers, the seed, the mark and the secret of webhooks. It
runs beside a service or without one, and reads every byte again before the folder gets its name. The seed
alone can spend: leave it out with --without-seed, or move wallet.seed out of the folder, and keep it apart.
Run the command as the user of the service, with its settings (docs/runbook.md, "Backups").

  satscribe backup /backups/$(date +%F)
  satscribe backup /backups/$(date +%F) --without-seed --json`,
  flags: [
    ownFlag(withoutSeed, null, 'leave the seed of the wallet out of the backup'),
    ownFlag(
      withoutMissing,
      null,
      'leave out files that rows need and that are lost: their orders cannot be delivered',
    ),
    jsonFlag,
    settingFlag('walletSeedFile', 'FILE'),
    settingFlag('walletMarkFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runBackup,
};

async function runBackup(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const dir = folderOf(context, 'backup');
  // loaded here, so that help and usage errors do not load it
  const [{ backUpService }, { backupProgress }] = await Promise.all([
    import('#src/app/backups/backup.ts'),
    import('./backup-lines.ts'),
  ]);
  const progress = backupProgress(process.stderr);
  const manifest = await backUpService(context, dir, {
    isSeedLeftOut: flags[withoutSeed] !== undefined,
    mayFilesBeMissing: flags[withoutMissing] !== undefined,
    onProgress: (state) => progress.update(state),
  }).finally(() => progress.finish());
  await print(
    flags['json'] === undefined
      ? await backupText(resolve(dir), manifest)
      : `${JSON.stringify({ folder: resolve(dir), ...summaryOf(manifest) })}\n`,
  );
}

/** The folder that the words of the command name. */
export function folderOf({ words }: CommandContext, command: 'backup' | 'restore'): string {
  const [dir, extra] = words;
  if (dir === undefined || dir === '') throw new UsageError(`which folder? satscribe ${command} DIR`);
  if (extra !== undefined)
    throw new UsageError(`unexpected word ${extra}; satscribe ${command} --help shows the usage`);
  return dir;
}

/** Facts of a backup, for programs. */
export function summaryOf({ tables, files, ...manifest }: BackupManifest) {
  const { program, createdAt, network, tip, wallet, ends, hasSeed, secret } = manifest;
  return {
    program,
    createdAt,
    network,
    height: tip?.height ?? null,
    tables: tables.length,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
    files: files.count,
    fileBytes: files.bytes,
    missingFiles: files.missing,
    wallet: wallet?.masterFingerprint ?? null,
    ends,
    hasSeed,
    hasSecret: secret !== null,
  };
}

async function backupText(dir: string, manifest: BackupManifest): Promise<string> {
  const { megabytes } = await import('./backup-lines.ts');
  const { rows, bytes, tables, files, fileBytes, missingFiles, wallet, hasSecret } = summaryOf(manifest);
  const seed =
    wallet === null
      ? 'the database has no wallet'
      : manifest.hasSeed
        ? `wallet ${wallet}, in wallet.seed`
        : `not in this backup (--without-seed): wallet ${wallet}`;
  const next = manifest.hasSeed
    ? 'Move wallet.seed out of the folder and keep it apart: it alone can spend.'
    : wallet === null
      ? 'Copy the folder to another machine.'
      : 'Make sure that the words of the seed are on paper: a restore without them cannot spend.';
  return `backup    ${dir}
rows      ${rows} in ${tables} tables, ${megabytes(bytes)}
files     ${files}, ${megabytes(fileBytes)}${missingFiles === 0 ? '' : `; ${missingFiles} are missing, and rows need them`}
seed      ${seed}
secret    ${hasSecret ? 'service.secret' : 'the service has none'}
checked   every byte was read again

${next}
Copy the folder to another machine. satscribe restore ${dir} restores it (docs/runbook.md, "Backups").
`;
}
