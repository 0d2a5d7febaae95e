import { rename, stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { constrainedMemory } from 'node:process';
import { AppError } from '#kernel/errors/app-error.ts';
import { makePassword, passwordFile, superuser } from './roles.ts';
import { runAs } from './server-account.ts';
import type { ServerPlace } from './server-place.ts';
import { renderSettings, serverSettings, sharedMemoryType } from './server-settings.ts';

/** Path of the server's log, relative to the home. */
export const logFile = 'server.log';
/**
 * Maximum size of the log, in bytes. A larger log is renamed at the next start, so there are at most two files of this
 * size.
 */
const logMaxBytes = 8 * 1024 * 1024;

/**
 * Creates the cluster if it is missing, either completely or not at all. Throws `postgres_version` if the cluster has
 * another version.
 */
export async function ensureCluster(place: ServerPlace): Promise<void> {
  const { account, binaries, clusterDir, files, home, major } = place;
  const version = (await files.read(join(clusterDir, 'PG_VERSION')))?.trim();
  if (version !== undefined) {
    if (version === major) return;
    const message = `The data in ${clusterDir} is of PostgreSQL ${version}, but this program has PostgreSQL ${major}.`;
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
      // set it explicitly, because initdb would choose by a test with one byte, and may fail with this choice
      `--set=dynamic_shared_memory_type=${sharedMemoryType(await sharedMemoryBytes())}`,
      '--no-instructions',
    ],
    { cwd: home },
  );
  if (result.exitCode !== 0) throw startFailed('initdb failed', result.output, place);
  // this is safe, because both names are in the home itself, and a rename does not follow links
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

/** Renames the log if it is too large. */
export async function rotateLog({ files, home }: ServerPlace): Promise<void> {
  const path = join(home, logFile);
  if ((await files.size(path)) > logMaxBytes) await rename(path, `${path}.1`);
}

export function startFailed(what: string, output: string, place: ServerPlace): AppError {
  const tail = output.trim().split('\n').slice(-12).join('\n');
  const log = join(place.home, logFile);
  return new AppError('postgres_start_failed', `${what} (log: ${log}):\n${tail}`, { log });
}

/** The value of f_type for a tmpfs (man 2 statfs). */
const tmpfsMagic = 0x01021994;
const writableByAll = 0o002;

/** Memory of the machine in bytes, or that of the container if it is less. */
function memoryBytes(): number {
  const constrained = constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Free bytes of /dev/shm. 0 if it does not exist, or if the server's account cannot use it. */
async function sharedMemoryBytes(): Promise<number> {
  try {
    const [{ mode }, { type, bavail, bsize }] = await Promise.all([stat('/dev/shm'), statfs('/dev/shm')]);
    return type === tmpfsMagic && (mode & writableByAll) !== 0 ? bavail * bsize : 0;
  } catch {
    return 0;
  }
}
