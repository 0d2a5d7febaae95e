import type pg from 'pg';
import { workUnderLock } from '#kernel/pg/work-under-lock.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { pause } from '#kernel/retry.ts';
import { type CustomerFiles, fileFolders, type StoredFile } from './customer-files.ts';
import { areOver } from './file.store.ts';
import { sweepLeaves } from './sweep-leaves.ts';
import { deleteOldUploads } from './uploads.store.ts';

export interface SweepFilesOptions {
  /** URL of the database. */
  readonly url: string;
  readonly files: CustomerFiles;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Receives the total bytes of all contents. Called once all folders were read, and then after each folder. */
  readonly onBytes: (bytes: number) => void;
}

const dayMs = 86_400_000;
/**
 * Age at which a content may be deleted, in ms. A newer content may belong to a creation that is not finished. A
 * creation stores contents at most minutes before its rows, and a content is written within seconds.
 */
const freshMs = dayMs;
/**
 * How long a content that no row uses is kept, in ms. No row uses a content if its creation failed, or if the database
 * was restored from an older backup.
 */
const unknownMs = 7 * dayMs;
/** Pause between two sweeps, in ms. Deletions are not urgent. */
const everyMs = 6 * 3_600_000;
/** Pause after each of the 256 folders, in ms. A sweep therefore takes at least half a minute. */
const restMs = 100;

/**
 * Deletes contents and leaves that are no longer needed, repeatedly, until the signal is aborted. One process per
 * database does this work. Needs memory for the names of one folder.
 */
export async function sweepFiles(options: SweepFilesOptions): Promise<void> {
  const { url, signal, log } = options;
  const bytes = new Map<string, number>();
  await workUnderLock(
    {
      url,
      applicationName: 'satscribe files of orders',
      lock: 'files',
      what: 'files of orders',
      signal,
      log,
      hasCookieFile: true,
    },
    async (client) => {
      while (!signal.aborted) {
        await sweepLeaves(client, signal);
        await sweepUploads(client, signal);
        for (const folder of fileFolders) {
          if (signal.aborted) return;
          bytes.set(folder, await sweepFolder(client, options.files, folder, new Date()));
          if (bytes.size === fileFolders.length)
            options.onBytes([...bytes.values()].reduce((sum, more) => sum + more, 0));
          await pause(restMs, signal);
        }
        await pause(everyMs, signal);
      }
    },
  );
}

/** Maximum number of uploads in one SQL statement. Each upload needs look-ups in two indexes. */
const uploadsAtOnce = 1_000;

/** Deletes rows of uploads that were not needed for a long time. */
export async function sweepUploads(client: pg.ClientBase, signal: AbortSignal): Promise<void> {
  let place: Awaited<ReturnType<typeof deleteOldUploads>> = null;
  do place = await deleteOldUploads(client, place, uploadsAtOnce);
  while (place !== null && !signal.aborted);
}

/** Deletes contents of one folder that are no longer needed. Returns the total bytes of the remaining contents. */
export async function sweepFolder(
  client: pg.ClientBase,
  files: CustomerFiles,
  folder: string,
  now: Date,
): Promise<number> {
  const found = await files.list(folder);
  const isOlder = ({ writtenAt }: StoredFile, ms: number): boolean =>
    now.getTime() - writtenAt.getTime() > ms;
  for (const file of found) {
    // restore the content first, because the next sweep decides again whether to delete it
    if (file.kind === 'aside') await files.bringBack(file.name);
    if (file.kind === 'partial' && isOlder(file, freshMs)) await files.removePartial(file.name);
  }
  const contents = found.filter(({ kind }) => kind === 'content');
  const old = contents.filter((file) => isOlder(file, freshMs));
  const over = await areOver(
    client,
    old.map(({ name }) => name),
  );
  let bytes = contents.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of old) {
    const isOver = over.get(file.name) ?? isOlder(file, unknownMs);
    if (isOver && (await files.remove(file.name, new Date(now.getTime() - freshMs)))) bytes -= file.bytes;
  }
  return bytes;
}
