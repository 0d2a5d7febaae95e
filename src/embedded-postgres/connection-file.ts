import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How other commands find the embedded server of a data folder. The password is in a separate file. */
export interface ConnectionFile {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly passwordFile: string;
  /** Process number of the postmaster. */
  readonly serverPid: number;
  /** Where the cluster is, which may be outside the data folder. */
  readonly cluster: string;
  readonly log: string;
}

const fileName = 'postgres-connection.json';

export async function writeConnectionFile(dataDir: string, content: ConnectionFile): Promise<void> {
  const path = join(dataDir, fileName);
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, path);
}

/** Null where there is none, or it cannot be read. */
export async function readConnectionFile(dataDir: string): Promise<ConnectionFile | null> {
  try {
    return JSON.parse(await readFile(join(dataDir, fileName), 'utf8')) as ConnectionFile;
  } catch {
    return null;
  }
}

export async function removeConnectionFile(dataDir: string): Promise<void> {
  await rm(join(dataDir, fileName), { force: true });
}

export async function connectionUrl(content: ConnectionFile): Promise<string> {
  const password = (await readFile(content.passwordFile, 'utf8')).trim();
  return `postgres://${content.user}:${encodeURIComponent(password)}@${content.host}:${content.port}/${content.database}`;
}
