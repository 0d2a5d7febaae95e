import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { databaseFolder } from './database-folder.ts';

export interface DataDir {
  readonly path: string;
  remove(): Promise<void>;
}

/** Makes an empty temporary folder that the embedded server's account can reach. */
export async function makeDataDir(): Promise<DataDir> {
  const path = await mkdtemp(join(databaseFolder(), 'satscribe-data-'));
  await chmod(path, 0o755);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/**
 * Makes a data folder with an empty cluster, as a stopped service leaves it. The cluster is a copy, because initdb
 * takes longer than most tests that use the folder. With its own server (TEST_DATABASE_URL) a run has no cluster to copy, so
 * the folder is empty.
 */
export async function makeUsedDataDir(): Promise<DataDir> {
  const folder = await makeDataDir();
  const { cluster } = inject('testServer');
  // keeps owners and modes, which the copy function of node does not
  if (cluster !== null) await promisify(execFile)('cp', ['-a', cluster, join(folder.path, 'postgres')]);
  return folder;
}
