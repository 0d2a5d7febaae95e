import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readOwnFile, replaceFile } from './own-files.ts';

/**
 * Content of the file by which other commands find the embedded server of a data folder. Passwords are in separate
 * files.
 */
export interface ConnectionFile {
  readonly host: string;
  readonly port: number;
  /** Name of the role that writes. */
  readonly user: string;
  readonly database: string;
  readonly passwordFile: string;
  /** The role that answers requests. */
  readonly reader: { readonly user: string; readonly passwordFile: string };
  /** Process number of the postmaster. */
  readonly serverPid: number;
  /** Folder of the cluster. It may be outside the data folder. */
  readonly cluster: string;
  readonly log: string;
}

/** The host on which our server listens. It does not listen on any other. */
export const serverHost = '127.0.0.1';

const fileName = 'postgres-connection.json';

export async function writeConnectionFile(dataDir: string, content: ConnectionFile): Promise<void> {
  await replaceFile(join(dataDir, fileName), `${JSON.stringify(content, null, 2)}\n`);
}

/** Reads the file. Returns `null` if it is missing or unreadable. */
export async function readConnectionFile(dataDir: string): Promise<ConnectionFile | null> {
  try {
    return JSON.parse((await readOwnFile(join(dataDir, fileName))) ?? '') as ConnectionFile;
  } catch {
    return null;
  }
}

export async function removeConnectionFile(dataDir: string): Promise<void> {
  await rm(join(dataDir, fileName), { force: true });
}

export function connectionUrl(
  { port, database }: Pick<ConnectionFile, 'port' | 'database'>,
  user: string,
  password: string,
): string {
  // Always use our own host, because the folder may be a copy from another machine. The server has no TLS, whatever
  // PGSSLMODE says.
  return `postgres://${user}:${encodeURIComponent(password)}@${serverHost}:${port}/${database}?sslmode=disable`;
}
