import type { SizeDifference } from '#collections/approving/approval-faults.ts';
import { approveCollection } from '#collections/approving/approve-collection.ts';
import { closeCollection, refuseCollection } from '#collections/approving/decide-collection.ts';
import { uploadFolder } from '#collections/approving/upload-folder.ts';
import { terminalText } from '#kernel/text/terminal-text.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { withMint } from '#src/app/ordering/mint.ts';
import { type ProgressLines, progressBar, progressLines } from '#src/commands/progress-lines.ts';
import { withService } from '#src/commands/service-database.ts';

/** Maximum number of differences that are shown to people. `--json` shows all. */
const differencesShown = 20;
const reasonCharsMax = 1_000;

/** Approves a collection, and shows the progress on stderr. */
export async function approve({ ...context }: CommandContext, id: string): Promise<void> {
  await withMint(context, async ({ options, ...parts }) => {
    let of = 0;
    const progress = filesProgress('fetched');
    try {
      const approved = await approveCollection(
        {
          ...parts,
          onMissing: (files) => {
            of = files;
          },
          onStored: (files, bytes) => progress.update({ files, of, bytes }),
        },
        id,
        options,
      );
      progress.finish();
      const { items, files, bytes, fetched, differences } = approved;
      await tell(
        context,
        approved,
        `approved ${id}: ${items} items${files === items ? '' : ', an edition of one file'}, ${bytes} bytes, ${fetched} files fetched now\n${differenceText(differences)}`,
      );
    } finally {
      progress.finish();
    }
  });
}

/** Adds the files of a folder, and shows the progress on stderr. */
export async function upload(context: CommandContext, id: string, folder: string): Promise<void> {
  await withMint(context, async ({ options, ...parts }) => {
    const progress = filesProgress('stored');
    try {
      const uploaded = await uploadFolder(
        { ...parts, onStored: (files, of, bytes) => progress.update({ files, of, bytes }) },
        id,
        folder,
        options,
      );
      progress.finish();
      const { files, bytes, known, leftOut } = uploaded;
      const left = leftOut.length === 0 ? '' : `  left out: ${leftOut.map(terminalText).join(', ')}\n`;
      await tell(
        context,
        uploaded,
        `uploaded ${files} files to ${id}, ${bytes} bytes; ${known} of these files were already stored\n${left}`,
      );
    } finally {
      progress.finish();
    }
  });
}

/** Refuses a pending collection. */
export async function refuse(context: CommandContext, id: string): Promise<void> {
  const reason = reasonOf(context);
  await withService(context, async (pool) => {
    await refuseCollection(pool, id, reason);
    await tell(context, { refused: id, reason }, `refused ${id}\n`);
  });
}

/** Ends the sale of an approved collection. */
export async function close(context: CommandContext, id: string): Promise<void> {
  const reason = reasonOf(context);
  await withService(context, async (pool) => {
    await closeCollection(pool, id, reason);
    await tell(context, { closed: id, reason }, `closed ${id}\n`);
  });
}

function reasonOf({ flags, words: [action = '', id = ''] }: CommandContext): string {
  const reason = (flags['reason'] ?? '').trim();
  if (reason === '')
    throw new UsageError(
      `missing reason; use satscribe mint ${action} ${id} --reason "…", and its creator will see the reason`,
    );
  if (reason.length > reasonCharsMax)
    throw new UsageError(
      `--reason has ${reason.length} characters, but at most ${reasonCharsMax} are allowed`,
    );
  return reason;
}

const tell = ({ flags, print }: CommandContext, json: object, text: string): Promise<void> =>
  print(flags['json'] === undefined ? text : `${JSON.stringify(json)}\n`);

function differenceText(differences: readonly SizeDifference[]): string {
  const lines = differences
    .slice(0, differencesShown)
    .map(
      ({ name, toldBytes, bytes }) =>
        `  warning: ${terminalText(name)} has ${bytes} bytes, but its creator said ${toldBytes}\n`,
    );
  const more = differences.length - lines.length;
  return `${lines.join('')}${more === 0 ? '' : `  … and ${more} more files with another size than their creator said\n`}`;
}

interface FilesState {
  readonly files: number;
  readonly of: number;
  readonly bytes: number;
}

/** Shows progress in the form `[#####-----] 1200 of 3000 files fetched, 48.0 MB`. */
const filesProgress = (done: string): ProgressLines<FilesState> =>
  progressLines(
    process.stderr,
    ({ files, of, bytes }) =>
      `${progressBar(files / Math.max(1, of))} ${files} of ${of} files ${done}, ${(bytes / 1_000_000).toFixed(1)} MB`,
  );
