import { rename, stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { constrainedMemory } from 'node:process';
import { AppError } from '#kernel/errors/app-error.ts';
import { makePassword, passwordFile, superuser } from './roles.ts';
import { runAs } from './server-account.ts';
import type { ServerPlace } from './server-place.ts';
import { renderSettings, serverSettings, sharedMemoryType } from './server-settings.ts';

/** Relative to the home. */
export const logFile = 'server.log';
/** A larger log is moved aside at start: at most two files of this size. */
const logMaxBytes = 8 * 1024 * 1024;

/**
 * Creates the cluster if it is missing, completely or not at all. Throws `postgres_version` for a cluster of another
 * version.
 */
export async function ensureCluster(place: ServerPlace): Promise<void> {
  const { account, binaries, clusterDir, files, home, major } = place;
  const version = (await files.read(join(clusterDir, 'PG_VERSION')))?.trim();
  if (version !== undefined) {
    if (version === major) return;
    const message = `The data in ${clusterDir} is of PostgreSQL ${version}; this program brings PostgreSQL ${major}.`;
    throw new AppError('postgres_version', message, { found: version, expected: major });
  }
  await makePassword(place, superuser);
  const unfinished = join(home, 'data.unfinished');
  await files.remove(unfinished);
  const result = await runAs(
    account,
    join(binaries.root, 'bin', 'initdb'),
    [
      `--pgdata=${unfinished}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile(home, superuser)}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      // initdb uses the result of a probe of one byte, and may fail on it
      `--set=dynamic_shared_memory_type=${sharedMemoryType(await sharedMemoryBytes())}`,
      '--no-instructions',
    ],
    { cwd: home },
  );
  if (result.exitCode !== 0) throw startFailed('initdb failed', result.output, place);
  // both names are in the home itself, and a rename follows no link
  await rename(unfinished, clusterDir);
}

/** Writes postgresql.conf. */
export async function writeSettings(
  { clusterDir, files }: ServerPlace,
  port: number,
  durable: boolean,
): Promise<void> {
  const settings = serverSettings({
    port,
    memoryBytes: memoryBytes(),
    sharedMemoryBytes: await sharedMemoryBytes(),
    durable,
  });
  await files.write(join(clusterDir, 'postgresql.conf'), renderSettings(settings));
}

/** Moves a large log aside. */
export async function rotateLog({ files, home }: ServerPlace): Promise<void> {
  const path = join(home, logFile);
  if ((await files.size(path)) > logMaxBytes) await rename(path, `${path}.1`);
}

export function startFailed(what: string, output: string, place: ServerPlace): AppError {
  const tail = output.trim().split('\n').slice(-12).join('\n');
  const log = join(place.home, logFile);
  return new AppError('postgres_start_failed', `${what} (log: ${log}):\n${tail}`, { log });
}

/** f_type of a tmpfs (man 2 statfs). */
const tmpfsMagic = 0x01021994;
const writableByAll = 0o002;

/** Memory of the machine, or of the container if that is less. */
function memoryBytes(): number {
  const constrained = constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Free bytes of /dev/shm. 0: it does not exist, or the server's account cannot use it. */
async function sharedMemoryBytes(): Promise<number> {
  try {
    const [{ mode }, { type, bavail, bsize }] = await Promise.all([stat('/dev/shm'), statfs('/dev/shm')]);
    return type === tmpfsMagic && (mode & writableByAll) !== 0 ? bavail * bsize : 0;
  } catch {
    return 0;
  }
}
