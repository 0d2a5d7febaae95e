import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type pg from 'pg';
import { inLanes } from '#kernel/concurrency/in-lanes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type CustomerFiles, fileFolders } from '#orders/files/customer-files.ts';
import { areOver } from '#orders/files/file.store.ts';
import { type BackupManifest, damaged } from './backup-manifest.ts';
import type { BackupWork } from './backup-progress.ts';

/** Files that are copied or checked at once: each waits for its disk. They take at most 4 MB each. */
const filesAtOnce = 8;
/** Number of contents in one question to the database, and of lines of a list that are in memory. */
const contentsAtOnce = 10_000;
/** Number of missing files that a message names. */
const namedMax = 5;

/** Number and bytes of the files of a backup, and the hash of their list. */
type FilesFacts = Omit<BackupManifest['files'], 'missing'>;

/**
 * Copies all contents of a folder into the backup, and writes their list: a line with the hash and the length of each.
 * A content whose bytes differ from its name is left out.
 */
export async function backUpFiles(
  from: CustomerFiles,
  into: CustomerFiles,
  listPath: string,
  { signal, onProgress }: BackupWork,
): Promise<FilesFacts> {
  const hash = createHash('sha256');
  const facts = { count: 0, bytes: 0 };
  const list = await open(listPath, 'wx', 0o600);
  try {
    for (const [place, folder] of fileFolders.entries()) {
      signal.throwIfAborted();
      onProgress({ step: 'files', done: place, of: fileFolders.length });
      const lines = await copyFolder(from, into, folder, signal);
      for (const { line, bytes } of lines) {
        hash.update(line);
        facts.count++;
        facts.bytes += bytes;
      }
      await appendTo(list, lines.map(({ line }) => line).join(''));
    }
    await list.sync();
  } finally {
    await list.close();
  }
  return { ...facts, sha256: hash.digest('hex') };
}

const appendTo = (list: FileHandle, text: string): Promise<void> =>
  text === '' ? Promise.resolve() : list.writeFile(text);

interface ListedFile {
  readonly line: string;
  readonly bytes: number;
}

async function copyFolder(
  from: CustomerFiles,
  into: CustomerFiles,
  folder: string,
  signal: AbortSignal,
): Promise<readonly ListedFile[]> {
  const names = (await from.list(folder))
    // a content that is being deleted may be brought back
    .filter(({ kind }) => kind !== 'partial')
    .map(({ name }) => name.slice(0, 64));
  const copied = await inLanes([...new Set(names)].toSorted(), filesAtOnce, async (name) => {
    signal.throwIfAborted();
    const content = await from.get(Buffer.from(name, 'hex'));
    if (content === null || sha256Of(content) !== name) return null;
    await into.put(content);
    return { line: `${name} ${content.length}\n`, bytes: content.length };
  });
  return copied.filter((file) => file !== null);
}

const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/**
 * Checks that the backup has each content that its rows need, and returns the number of missing contents. Throws
 * `backup_incomplete` with the first missing ones, unless they may be missing. A content that no row of the database
 * needs any more is not missing: it was deleted since the dump.
 */
export async function countMissing(
  client: pg.ClientBase,
  files: CustomerFiles,
  neededPath: string,
  { signal, mayBeMissing }: { readonly signal: AbortSignal; readonly mayBeMissing: boolean },
): Promise<number> {
  let all = 0;
  for await (const names of linesOf(neededPath)) {
    signal.throwIfAborted();
    const found = await inLanes(names, filesAtOnce, async (name) =>
      (await files.bytesOf(Buffer.from(name, 'hex'))) === null ? name : null,
    );
    const absent = found.filter((name) => name !== null);
    if (absent.length === 0) continue;
    const over = await areOver(client, absent);
    const missing = absent.filter((name) => over.get(name) === false);
    if (missing.length > 0 && !mayBeMissing) throw incomplete(missing);
    all += missing.length;
  }
  return all;
}

function incomplete(missing: readonly string[]): AppError {
  const named = missing.slice(0, namedMax).join(', ');
  const more = missing.length > namedMax ? ` and ${missing.length - namedMax} or more others` : '';
  return new AppError(
    'backup_incomplete',
    `Orders, uploads or collections need files that are missing in FILES_DIR, or whose bytes were changed: ${named}${more}. The name of a file is its sha256. If they are lost, leave them out with --without-missing-files.`,
    { missing: missing.slice(0, namedMax) },
  );
}

/** Lines of a file, some at once. */
async function* linesOf(path: string): AsyncGenerator<readonly string[]> {
  let lines: string[] = [];
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    if (line === '') continue;
    lines.push(line);
    if (lines.length < contentsAtOnce) continue;
    yield lines;
    lines = [];
  }
  if (lines.length > 0) yield lines;
}

/** Calls `work` for each file of a list, several at once. */
async function eachListed(
  listPath: string,
  signal: AbortSignal,
  work: (name: string, bytes: number) => Promise<void>,
): Promise<void> {
  for await (const lines of linesOf(listPath)) {
    await inLanes(lines, filesAtOnce, async (line) => {
      signal.throwIfAborted();
      const [, name = '', bytes = ''] = /^([0-9a-f]{64}) (\d{1,16})$/u.exec(line) ?? [];
      if (name === '') throw damaged('files.list has another form');
      await work(name, Number(bytes));
    });
  }
}

/** Reads all files of a backup. Throws `backup_damaged` if one is missing or was changed, or if their list was. */
export async function verifyFiles(
  files: CustomerFiles,
  listPath: string,
  expected: FilesFacts,
  { signal, onProgress }: BackupWork,
): Promise<void> {
  if ((await hashOfFile(listPath)) !== expected.sha256) throw damaged('files.list was changed');
  let [count, done] = [0, 0];
  await eachListed(listPath, signal, async (name, bytes) => {
    const content = await files.get(Buffer.from(name, 'hex'));
    if (content === null) throw damaged(`the file ${name} is missing`);
    if (content.length !== bytes || sha256Of(content) !== name) throw damaged(`the file ${name} was changed`);
    count++;
    done += bytes;
    onProgress({ step: 'check of files', done, of: expected.bytes });
  });
  if (count !== expected.count || done !== expected.bytes)
    throw damaged(`it has ${count} files with ${done} bytes, not ${expected.count} with ${expected.bytes}`);
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(path) as AsyncIterable<Buffer>) hash.update(part);
  return hash.digest('hex');
}

/** Names of files that are in a folder with other bytes than in the backup: the bytes of one of the two are wrong. */
export async function differingFiles(
  target: CustomerFiles,
  listPath: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const differing: string[] = [];
  await eachListed(listPath, signal, async (name) => {
    const content = await target.get(Buffer.from(name, 'hex'));
    if (content !== null && sha256Of(content) !== name) differing.push(name);
  });
  return differing;
}

/** Copies the files of a backup that a folder lacks. Other files of the folder stay. Returns the number of copies. */
export async function restoreFiles(
  from: CustomerFiles,
  target: CustomerFiles,
  listPath: string,
  expected: FilesFacts,
  { signal, onProgress }: BackupWork,
): Promise<number> {
  let [copied, done] = [0, 0];
  await eachListed(listPath, signal, async (name, bytes) => {
    const sha256 = Buffer.from(name, 'hex');
    if ((await target.bytesOf(sha256)) === null) {
      const content = await from.get(sha256);
      if (content === null || sha256Of(content) !== name) throw damaged(`the file ${name} was changed`);
      await target.put(content);
      copied++;
    }
    done += bytes;
    onProgress({ step: 'files', done, of: expected.bytes });
  });
  return copied;
}
