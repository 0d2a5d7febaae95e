import { link, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '#kernel/errors/app-error.ts';
import { readOwnFile } from './own-files.ts';
import { processStartedAt } from './processes.ts';

interface Holder {
  readonly pid: number;
  readonly startedAt: string;
}

export interface DataDirLock {
  release(): Promise<void>;
}

const lockFile = 'satscribe.lock';
/** Maximum number of attempts after a stale lock was cleared. Fewer processes than this compete for one folder. */
const attemptsMax = 10;

/**
 * Makes this process the only owner of a data folder, until the process ends or releases the folder. The lock file
 * contains the owner's process number and start time. So the lock of a killed process is recognised and taken over.
 * Throws `data_dir_busy` if the owner is still running.
 */
export async function takeDataDirLock(dataDir: string): Promise<DataDirLock> {
  const path = join(dataDir, lockFile);
  const own: Holder = { pid: process.pid, startedAt: (await processStartedAt(process.pid)) ?? '' };
  const prepared = `${path}.${process.pid}.${crypto.randomUUID()}`;
  // write a complete file first and link it into place, so that no process reads half a lock
  await writeFile(prepared, JSON.stringify(own), { mode: 0o644, flag: 'wx' });
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      if (await linkNew(prepared, path)) return { release: () => release(path, own) };
      const holder = await readHolder(path);
      if (holder !== null && (await isRunning(holder))) throw owned(dataDir, holder);
      await clearStale(path, holder);
    }
  } finally {
    await rm(prepared, { force: true });
  }
  throw new AppError(
    'data_dir_busy',
    `Several processes are starting in the data folder ${dataDir} at the same time.`,
    {
      dataDir,
    },
  );
}

/** Throws `data_dir_busy` if a running process owns a data folder. Call it before anything in the folder is changed. */
export async function refuseOwned(dataDir: string): Promise<void> {
  const holder = await readHolder(join(dataDir, lockFile));
  if (holder !== null && (await isRunning(holder))) throw owned(dataDir, holder);
}

const owned = (dataDir: string, { pid }: Holder): AppError =>
  new AppError('data_dir_busy', `Process ${pid} already uses the data folder ${dataDir}.`, {
    dataDir,
    pid,
  });

/** Whether a running process owns a data folder. The lock of a killed process does not count. */
export async function hasOwner(dataDir: string): Promise<boolean> {
  const holder = await readHolder(join(dataDir, lockFile));
  return holder !== null && (await isRunning(holder));
}

async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<Holder | null> {
  try {
    const parsed = JSON.parse((await readOwnFile(path)) ?? '') as Partial<Holder>;
    return typeof parsed.pid === 'number' && typeof parsed.startedAt === 'string'
      ? { pid: parsed.pid, startedAt: parsed.startedAt }
      : null;
  } catch {
    return null;
  }
}

async function isRunning(holder: Holder): Promise<boolean> {
  return (await processStartedAt(holder.pid)) === holder.startedAt;
}

/** Moves the lock away and removes it. If the lock belongs to another process by now, it is put back. */
async function clearStale(path: string, stale: Holder | null): Promise<void> {
  const aside = `${path}.stale.${process.pid}.${crypto.randomUUID()}`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  const moved = await readHolder(aside);
  if (moved?.pid !== stale?.pid || moved?.startedAt !== stale?.startedAt) await linkNew(aside, path);
  await rm(aside, { force: true });
}

async function release(path: string, own: Holder): Promise<void> {
  const holder = await readHolder(path);
  if (holder?.pid === own.pid && holder.startedAt === own.startedAt) await rm(path, { force: true });
}
