import { createHash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { type Collection, lockCollection, readCollection } from '#collections/collection/collection.store.ts';
import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { contentTypeOf, fileExtensions } from '#kernel/requests/file-types.ts';
import { textFault } from '#kernel/text/text-fault.ts';
import { requirePending, unknownMint, wrongFiles } from './approval-errors.ts';
import { type ApprovalFault, type ApprovalOptions, contentFault } from './approval-faults.ts';
import type { ContentsDisk } from './contents-disk.ts';
import { replaceFiles, type StoredContent } from './stored-files.store.ts';

export interface UploadParts {
  readonly pool: pg.Pool;
  readonly disk: ContentsDisk;
  readonly signal: AbortSignal;
  /**
   * Called after each file, with the number of files on the disk, the number of all files, and the bytes of the files
   * on the disk.
   */
  readonly onStored: (files: number, of: number, bytes: number) => void;
}

export interface Uploaded {
  readonly collection: string;
  readonly files: number;
  readonly bytes: number;
  /** Number of files that were on the disk already. */
  readonly known: number;
  /** Names of hidden files and of folders, which were left out. */
  readonly leftOut: readonly string[];
}

/** Maximum number of files that are read at once. Each file is written and flushed separately. */
const atOnce = 8;

/** Sorts names, and compares numbers in names by value, so that 2.png comes before 10.png. */
const order = new Intl.Collator('en', { numeric: true });

/**
 * Replaces the files of a pending collection with the files of a folder. The items are in the order of the file names.
 * The list of files is changed at the end, either completely or not at all. Contents that are already on disk are not
 * written again, so an interrupted run can be repeated. Throws `mint_unknown`, `mint_decided`, `mint_files_wrong`,
 * `mint_folder_unreadable` and `mint_disk_full`.
 */
export async function uploadFolder(
  parts: UploadParts,
  id: string,
  folder: string,
  options: ApprovalOptions,
): Promise<Uploaded> {
  const { pool, disk, signal, onStored } = parts;
  const collection = await readCollection(pool, id);
  if (collection === null) throw unknownMint(id);
  requirePending(collection);
  const { names, leftOut } = await listFolder(folder);
  const faults = [...countFaults(names, collection), ...(await fileFaults(folder, names, options))];
  if (faults.length > 0) throw wrongFiles(id, faults);
  let done = 0;
  let known = 0;
  let bytes = 0;
  const contents = await inLanes(names, atOnce, async (name, place): Promise<StoredContent> => {
    signal.throwIfAborted();
    const content = await readContent(join(folder, name));
    // the file may have changed since the first check
    const fault = contentFault(content.length, options);
    if (fault !== null) throw wrongFiles(id, [{ where: name, why: fault }]);
    const sha256 = createHash('sha256').update(content).digest();
    if ((await disk.bytesOf(sha256)) === content.length) known++;
    else {
      await disk.put(content);
    }
    done++;
    bytes += content.length;
    onStored(done, names.length, bytes);
    return { place, name, sha256, bytes: content.length, mediaType: contentTypeOf(name) ?? '' };
  });
  await withTransaction(pool, async (tx) => {
    const locked = await lockCollection(tx, id);
    if (locked === null) throw unknownMint(id);
    requirePending(locked);
    await replaceFiles(tx, id, contents);
  });
  return { collection: id, files: contents.length, bytes, known, leftOut };
}

/**
 * The files of a folder, in the order of the items. Hidden files are left out, because they come from file managers.
 */
async function listFolder(
  folder: string,
): Promise<{ readonly names: readonly string[]; readonly leftOut: readonly string[] }> {
  const entries = await readable(folder, readdir(folder, { withFileTypes: true }));
  const isTaken = (entry: Dirent): boolean => !entry.name.startsWith('.') && !entry.isDirectory();
  const named = (found: readonly Dirent[]): string[] =>
    found.map(({ name }) => name).toSorted((a, b) => order.compare(a, b) || (a < b ? -1 : 1));
  return {
    names: named(entries.filter(isTaken)),
    leftOut: named(entries.filter((entry) => !isTaken(entry))),
  };
}

function countFaults(
  { length }: readonly string[],
  { totalCount }: Pick<Collection, 'totalCount'>,
): readonly ApprovalFault[] {
  return length === totalCount || length === 1
    ? []
    : [
        {
          where: 'The folder',
          why: `has ${length} files, but totalCount is ${totalCount}; use a folder with totalCount files, or with one file for an edition`,
        },
      ];
}

async function fileFaults(
  folder: string,
  names: readonly string[],
  options: ApprovalOptions,
): Promise<readonly ApprovalFault[]> {
  const faults = await inLanes(names, atOnce, async (name): Promise<string | null> => {
    if (name.length > collectionBounds.nameChars)
      return `has a name of more than ${collectionBounds.nameChars} characters`;
    if (textFault(name) !== null) return 'has a name that cannot be stored';
    if (contentTypeOf(name) === null)
      return `has a type that cannot be inscribed; the types are ${fileExtensions}`;
    const facts = await readable(folder, stat(join(folder, name)));
    return facts.isFile() ? contentFault(facts.size, options) : 'is not a file';
  });
  return faults.flatMap((why, place) => (why === null ? [] : [{ where: names[place] ?? '', why }]));
}

const readContent = (path: string): Promise<Buffer> => readable(path, readFile(path));

/** Waits for a read of a file or folder, and returns its result. Throws `mint_folder_unreadable` if the read failed. */
async function readable<Result>(path: string, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new AppError('mint_folder_unreadable', `${path} cannot be read (${code}).`, { path }, error);
  }
}
