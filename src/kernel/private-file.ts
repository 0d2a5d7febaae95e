import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

const ownerOnly = 0o600;
const othersMask = 0o077;

export type PrivateFile =
  | { readonly kind: 'content'; readonly bytes: Buffer }
  | { readonly kind: 'missing' }
  /** `fault` is a part of a sentence, for example "it is a link". */
  | { readonly kind: 'refused'; readonly fault: string };

/**
 * Reads a file with a secret. The file must belong to the user of this process, and other users must have no rights.
 * Links, files of other owners and other kinds of files are refused, because the user that made them may know the
 * secret. A file longer than `bytesMax` is refused, too.
 */
export async function readPrivateFile(path: string, bytesMax: number): Promise<PrivateFile> {
  // with O_NONBLOCK, opening a pipe does not wait, and the pipe is then refused
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let file: FileHandle;
  try {
    file = await open(path, flags);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'missing' };
    return { kind: 'refused', fault: code === 'ELOOP' ? 'it is a link' : `it cannot be opened (${code})` };
  }
  try {
    const found = await file.stat();
    const fault =
      faultOf(found) ?? (found.size > bytesMax ? `it has a wrong size of ${found.size} bytes` : null);
    if (fault !== null) return { kind: 'refused', fault };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytesMax), 0, bytesMax, 0);
    return { kind: 'content', bytes: buffer.subarray(0, bytesRead) };
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return { kind: 'refused', fault: `it cannot be read (${code})` };
  } finally {
    await file.close();
  }
}

function faultOf(found: Stats): string | null {
  if (!found.isFile()) return 'it is not an ordinary file';
  const user = process.geteuid?.();
  if (user !== undefined && found.uid !== user)
    return `it belongs to user ${found.uid}, but this process runs as user ${user}`;
  const mode = found.mode & 0o777;
  return (mode & othersMask) === 0
    ? null
    : `other users have access to it (its mode is ${mode.toString(8)}; chmod 600 corrects this)`;
}

/**
 * Writes a file that only its owner can read, completely or not at all. Returns false if the name is taken, even by a
 * broken link, which stays. After that, the name survives a loss of power.
 */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<boolean> {
  const unfinished = `${path}.${crypto.randomUUID()}`;
  try {
    await writeNew(unfinished, content);
    // `link` succeeds only if the name is free, but a rename would replace a file with that name
    await link(unfinished, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
  await syncFolderOf(path);
  return true;
}

/**
 * Replaces a file that only its owner can read. Readers see either the complete old file or the complete new file, even
 * after a loss of power. Callers must take turns. The unfinished file always has the same name, so that crashes leave
 * only one such file.
 */
export async function replacePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${path}.new`;
  await rm(unfinished, { force: true });
  await writeNew(unfinished, content);
  await rename(unfinished, path);
  await syncFolderOf(path);
}

/**
 * Writes a file that only its owner can read to disk. Throws if the name is taken, because that file belongs to someone
 * else.
 */
async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', ownerOnly);
  try {
    // the umask removes bits from the mode of `open`
    await file.chmod(ownerOnly);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Syncs the folder of a file. */
const syncFolderOf = (path: string): Promise<void> => syncFolder(dirname(path));

/** Syncs a folder, so that a name in it survives a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
