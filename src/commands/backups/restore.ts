import type { RestoredService } from '#src/app/backups/restore.ts';
import { type Command, type CommandContext, UsageError } from '#src/app/command-context.ts';
import { ownFlag, settingFlag } from '#src/commands/flags.ts';
import { jsonFlag } from '#src/commands/service-database.ts';
import { folderOf, summaryOf } from './backup.ts';

export const restoreCommand: Command = {
  name: 'restore',
  object: null,
  operands: 'DIR',
  summary: 'restore a backup into an empty database',
  details: `Checks every byte of the backup, and everything that could go wrong, before it changes anything. Stop the
service first. The database must be empty: an index of the chain may be in it, and stays. Files and secrets
of this machine are never written over. New addresses begin 1,000,000 indices after all that may have been
shown: by the backup, its mark, the mark of this machine, and the outputs that a node finds, which takes
minutes on mainnet. Orders and payments that are younger than the backup are not in it: read the last lines
of the output before you start the service (docs/runbook.md, "Backups"). Payments to others wait until
satscribe payouts release.

  satscribe restore /backups/2026-11-30 --seed-file /etc/satscribe/wallet.seed
  satscribe restore /backups/2026-11-30 --without-node --json`,
  flags: [
    ownFlag('without-node', null, 'do not search the chain for addresses that were shown after the backup'),
    ownFlag(
      'gap',
      'N',
      'indices without an output after which the search ends; unset: 1000 beyond the mark of this machine, 1200000 without one',
    ),
    jsonFlag,
    settingFlag('walletSeedFile', 'FILE'),
    settingFlag('walletMarkFile', 'FILE'),
    settingFlag('network', 'NAME'),
    settingFlag('bitcoinRpcUrl', 'URL'),
    settingFlag('bitcoinCookieFile', 'FILE'),
    settingFlag('dataDir', 'DIR'),
    settingFlag('logLevel', 'LEVEL', 'warn'),
  ],
  prepare: ({ settings }) => ({ settings, defaults: { logLevel: 'warn' } }),
  run: runRestore,
};

async function runRestore(context: CommandContext): Promise<void> {
  const { flags, print } = context;
  const dir = folderOf(context, 'restore');
  const isChainAsked = flags['without-node'] === undefined;
  if (!isChainAsked && flags['gap'] !== undefined)
    throw new UsageError('--gap is for the search with a node: leave it or --without-node out');
  // loaded here, so that help and usage errors do not load it
  const [{ restoreService }, { backupProgress }, { wholeNumber }, { usualGap }] = await Promise.all([
    import('#src/app/backups/restore.ts'),
    import('./backup-lines.ts'),
    import('#src/commands/wallet/amounts.ts'),
    import('#src/commands/wallet/known-indices.ts'),
  ]);
  const gap = wholeNumber(flags, 'gap');
  const progress = backupProgress(process.stderr);
  const restored = await restoreService(context, dir, {
    isChainAsked,
    gapOf: (isMarked) => {
      if (!isMarked && gap === null) process.stderr.write(longSearchText);
      return Math.max(1, gap ?? usualGap(isMarked));
    },
    onProgress: (state) => progress.update(state),
    onSearch: (state) => progress.update(state),
  }).finally(() => progress.finish());
  await print(
    flags['json'] === undefined ? await restoredText(restored) : `${JSON.stringify(jsonOf(restored))}\n`,
  );
}

/** Said before a search of all addresses, which looks as if it hung. */
const longSearchText = `There is no mark file on this machine, so the node searches 1,200,000 addresses of each branch. This takes minutes to
hours. It is shorter with a copy of the mark file (--mark-file), or with --gap 1000 if fewer than 1000 addresses in a
row had no payment. --without-node leaves the search out. Ctrl-C ends it, and nothing was changed.
`;

const jsonOf = ({
  manifest,
  places,
  next,
  hasSeed,
  isChainAsked,
  copiedFiles,
  unsigned,
}: RestoredService) => ({
  backup: summaryOf(manifest),
  hasSeed,
  next,
  isChainAsked: isChainAsked && manifest.wallet !== null,
  copiedFiles,
  unsigned,
  filesDir: places.filesDir,
  secretFile: places.secretFile,
  seedFile: places.wallet?.seedFile ?? null,
  markFile: places.wallet?.markFile ?? null,
});

async function restoredText(restored: RestoredService): Promise<string> {
  const { megabytes, shownEnds } = await import('./backup-lines.ts');
  const { manifest, places, next, copiedFiles } = restored;
  const { rows, tables, files, fileBytes, createdAt } = summaryOf(manifest);
  const lines = [
    `backup    of ${createdAt}, made by satscribe ${manifest.program}`,
    `rows      ${rows} in ${tables} tables`,
    `files     ${files}, ${megabytes(fileBytes)}: ${copiedFiles} copied to ${places.filesDir}, the others were there`,
    `secret    ${manifest.secret === null ? 'none' : places.secretFile}`,
  ];
  if (next === null || places.wallet === null) return `${lines.join('\n')}\n\n${startText}`;
  lines.push(
    `mark      ${places.wallet.markFile}`,
    `next keys ${shownEnds(next)}, ${chainText(restored)}`,
    `seed      ${seedText(restored)}`,
  );
  return `${lines.join('\n')}\n\n${youngerText(restored)}\n${startText}`;
}

const startText = 'Then start the service, or satscribe index for the index of the chain alone.\n';

const chainText = ({ isChainAsked }: RestoredService): string =>
  isChainAsked ? 'beyond all addresses that the chain shows' : 'and the chain was not asked (--without-node)';

const seedText = ({ hasSeed, places }: RestoredService): string =>
  hasSeed
    ? (places.wallet?.seedFile ?? '')
    : `missing: write its words into ${places.wallet?.seedFile ?? 'the seed file'}, with chmod 600. Without it nothing is signed`;

/** Everything that the service did after the backup, which its rows do not know. */
function youngerText({
  manifest: { createdAt },
  unsigned: { payouts, withdrawals },
}: RestoredService): string {
  const unsigned =
    payouts + withdrawals === 0
      ? ''
      : `- ${payouts} payouts and ${withdrawals} withdrawals were not signed in the backup.
`;
  return `Orders and payments after ${createdAt} are not in the backup:
- satscribe audit, with the index at the tip, names coins that such payments spent.
- satscribe wallet restore finds money at addresses of such orders.
${unsigned}- Payouts, withdrawals and refunds are on hold, because the service may have made them after the backup. Start
  the service, wait until it is at the tip, and run satscribe payouts held, then satscribe payouts release.
`;
}
