import { constants } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';

/** Longest text that is read from a file: our own have some hundred bytes, and of a log the end is enough. */
export const readBytesMax = 64 * 1024;

/**
 * Writes a file, whole or not at all. It follows no link of that name, even one that is created meanwhile: the text
 * goes to a new file (O_EXCL), which takes the name.
 */
export async function replaceFile(path: string, text: string, mode = 0o600): Promise<void> {
  const unfinished = `${path}.${crypto.randomUUID()}`;
  try {
    await writeFile(unfinished, text, { mode, flag: 'wx' });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/**
 * The text of a file from an offset on, at most its last `readBytesMax` bytes. Null: not an ordinary file. A link is
 * not followed, and a pipe is not waited for.
 */
export async function readOwnFile(path: string, from = 0): Promise<string | null> {
  // O_NONBLOCK: a pipe opens at once
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch(() => null);
  if (file === null) return null;
  try {
    const found = await file.stat();
    if (!found.isFile()) return null;
    const start = Math.max(from, found.size - readBytesMax);
    const length = Math.max(0, found.size - start);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
    return buffer.subarray(0, bytesRead).toString('utf8');
  } finally {
    await file.close();
  }
}
