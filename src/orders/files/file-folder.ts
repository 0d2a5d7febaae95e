import { mkdir } from 'node:fs/promises';
import { systemFailure } from '#kernel/errors/system-failure.ts';

/** Waits for work on files. Throws `file_unusable` if the folder or its disk fails. */
export async function usable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw systemFailure(error);
  }
}

/**
 * Runs work in a folder. If the folder is missing, creates it and runs the work again. The folder is not checked first,
 * because it is missing only before its first content.
 */
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
