import { mkdir } from 'node:fs/promises';
import { systemFailure } from '#kernel/errors/system-failure.ts';

/** Throws `file_unusable` if the folder or its disk fails. */
export async function usable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw systemFailure(error);
  }
}

/** Runs work in a folder, and creates the folder if it is missing: after the first contents it exists. */
export async function inFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const done = await unlessMissing(work(), null);
  if (done !== null) return done;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return work();
}

export async function unlessMissing<Result, Otherwise>(
  reading: Promise<Result>,
  otherwise: Otherwise,
): Promise<Result | Otherwise> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw error;
  }
}
