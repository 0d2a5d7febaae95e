import { stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { DiskRoom } from '#http/server/operations.ts';

/** The disk space that the user of this process may still use. Root may have more. */
export async function diskRoomOf(folder: string): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

/** The path if it is a folder, else the nearest folder above it that exists. */
export async function nearestFolder(path: string): Promise<string> {
  const whole = resolve(path);
  if (whole === dirname(whole)) return whole;
  const isFolder = await stat(whole).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? whole : nearestFolder(dirname(whole));
}
