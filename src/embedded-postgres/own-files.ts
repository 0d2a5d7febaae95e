import { constants } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';

/**
 * Maximum number of bytes that are read from a file. Our own files have some hundred bytes, and of a log the end is
 * enough.
 */
export const readBytesMax = 64 * 1024;

/**
 * Writes a file, either completely or not at all. The text goes to a new file (O_EXCL), which is then renamed. So a
 * link with the file's name is never followed, even if it is created meanwhile.
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
 * Returns the text of a file from an offset on, at most its last `readBytesMax` bytes. Returns `null` if it is not an
 * ordinary file. A link is not followed, and a pipe does not block.
 */
export async function readOwnFile(path: string, from = 0): Promise<string | null> {
  // with O_NONBLOCK a pipe opens at once
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
