import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { processFolder, processName, processStartedAt } from './processes.ts';
import type { ServerFiles } from './server-files.ts';

/** The content of a cluster's `postmaster.pid` (src/include/utils/pidfile.h). */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/**
 * Returns the server that runs on a cluster, or `null` if none runs. Removes a pid file whose number belongs to no
 * process, or to another program after a reboot. Postgres would think that this program is a server, and refuse to
 * start.
 */
export async function runningPostmaster(files: ServerFiles, clusterDir: string): Promise<Postmaster | null> {
  const path = join(clusterDir, 'postmaster.pid');
  const text = await files.read(path);
  if (text === null) return null;
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  if (Number.isSafeInteger(pid) && pid > 1 && (await isPostmasterOf(pid, clusterDir))) return { pid, port };
  await files.remove(path);
  return null;
}

async function isPostmasterOf(pid: number, clusterDir: string): Promise<boolean> {
  // check the start time first, because a killed process has a name until its parent has waited for it
  if ((await processStartedAt(pid)) === null) return false;
  const name = await processName(pid);
  if (name === null || !name.includes('postgres')) return false;
  const folder = await processFolder(pid);
  return folder === null || folder === (await realpath(clusterDir).catch(() => null));
}
