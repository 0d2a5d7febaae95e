import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

const ownerOnly = 0o600;
const othersMask = 0o077;

export type PrivateFile =
  | { readonly kind: 'content'; readonly bytes: Buffer }
  | { readonly kind: 'missing' }
  /** `fault` is a part of a sentence: "it is a link". */
  | { readonly kind: 'refused'; readonly fault: string };

/**
 * A file with a secret, of the user of this process and with no rights for others: links, other owners and other kinds of
 * files are refused, as whoever made them may know the secret. At most `bytesMax` of it; a longer one is refused.
 */
export async function readPrivateFile(path: string, bytesMax: number): Promise<PrivateFile> {
  // O_NONBLOCK: a pipe opens at once, and is refused
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
    const fault = faultOf(found) ?? (found.size > bytesMax ? `it has ${found.size} bytes` : null);
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
  if (!found.isFile()) return 'it is no ordinary file';
  const user = process.geteuid?.();
  if (user !== undefined && found.uid !== user)
    return `it belongs to user ${found.uid}, and this process is user ${user}`;
  const mode = found.mode & 0o777;
  return (mode & othersMask) === 0
    ? null
    : `others than its owner may use it (mode ${mode.toString(8)}; chmod 600 mends it)`;
}

/**
 * Writes a file of the owner's alone, whole or not at all. False: anything has that name already, a broken link too, and
 * stays. Its name survives a loss of power from then on.
 */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<boolean> {
  const unfinished = `${path}.${crypto.randomUUID()}`;
  try {
    await writeNew(unfinished, content);
    // takes the name only where it is free; a rename would take it from a file that has it
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
 * Writes a file of the owner's alone in place of the one that has its name. Readers see one or the other, whole, also
 * after a loss of power. Callers take turns: the unfinished file has one name, so that crashes leave only one behind.
 */
export async function replacePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${path}.new`;
  await rm(unfinished, { force: true });
  await writeNew(unfinished, content);
  await rename(unfinished, path);
  await syncFolderOf(path);
}

/** Writes a file of the owner's alone to disk. Throws where something has its name: it is another's. */
async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', ownerOnly);
  try {
    // the mode of `open` is narrowed by the umask
    await file.chmod(ownerOnly);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A name survives a loss of power from then on. */
async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
