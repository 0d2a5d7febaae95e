import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, realpath } from 'node:fs/promises';
import { AppError } from '#kernel/errors/app-error.ts';
import type { ServerAccount } from './server-account.ts';

/**
 * Makes a folder that only the account can enter (null: ours), or takes an existing one that belongs to it. The owner
 * is changed through the open folder, never by its name, and only if root has just made it. Throws `data_dir_unusable`.
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
        throw unusable(path, `belongs neither to account ${account.name}, nor is it a new folder of root`);
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
 * Names in the open folder itself, if the system shows it by its number, so that no one can replace the folder
 * meanwhile.
 */
const namesIn = (folder: FileHandle, path: string): Promise<string[]> =>
  readdir(`/proc/self/fd/${folder.fd}`).catch(() => readdir(path));

/**
 * A path with its last link followed, if the link is ours: an operator may put a folder on another disk. Throws
 * `data_dir_unusable` for a link of another account.
 */
export async function followOwnLink(path: string): Promise<string> {
  const found = await lstat(path).catch(() => null);
  if (found?.isSymbolicLink() !== true) return path;
  if (found.uid !== process.getuid?.()) throw unusable(path, 'is a link of another account');
  return realpath(path);
}

function unusable(path: string, why: string): AppError {
  return new AppError('data_dir_unusable', `The folder ${path} cannot be used: it ${why}.`, { path });
}
