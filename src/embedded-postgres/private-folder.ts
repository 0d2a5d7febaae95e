import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath } from 'node:fs/promises';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ServerAccount } from './server-account.ts';

/**
 * Creates a folder that only the account can enter, or uses an existing folder that belongs to the account. `null` is
 * our own account. The owner is changed only if root has just created the folder, and through the open folder, never by
 * its name. Throws `data_dir_unusable`.
 */
export async function makePrivateFolder(path: string, account: ServerAccount | null): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const folder = await openFolder(path);
  try {
    const { uid } = await folder.stat();
    if (account !== null && uid !== account.uid) {
      if (uid !== 0 || (await namesIn(folder, path)).length > 0) {
        throw unusable(path, `does not belong to account ${account.name}, and is not a new folder of root`);
      }
      await folder.chown(account.uid, account.gid);
    }
    await folder.chmod(0o700);
  } finally {
    await folder.close();
  }
}

function openFolder(path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  return open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ELOOP' || error.code === 'ENOTDIR') throw unusable(path, 'is not a folder');
    throw error;
  });
}

/**
 * Lists the names in the open folder itself, if the system can read a folder by its file number. So no one can replace
 * the folder meanwhile.
 */
const namesIn = (folder: FileHandle, path: string): Promise<string[]> =>
  readdir(`/proc/self/fd/${folder.fd}`).catch(() => readdir(path));

/**
 * Follows the last link of a path if the link belongs to us, because an operator may put a folder on another disk.
 * Throws `data_dir_unusable` if the link belongs to another account.
 */
export async function followOwnLink(path: string): Promise<string> {
  const found = await lstat(path).catch(() => null);
  if (found?.isSymbolicLink() !== true) return path;
  if (found.uid !== process.getuid?.()) throw unusable(path, 'is a link of another account');
  return realpath(path);
}

function unusable(path: string, why: string): AppError {
  return new AppError('data_dir_unusable', `The folder ${path} cannot be used, because it ${why}.`, { path });
}
