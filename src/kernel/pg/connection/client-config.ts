import { readFileSync } from 'node:fs';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { shownAddress } from '#kernel/shown-address.ts';
import { readPostgresAddress, type TlsWish } from './postgres-address.ts';

/**
 * Options of `pg` for a database URL, with TLS as in libpq. Reads the files that the URL names. Throws
 * `config_invalid`.
 */
export function clientConfig(
  url: string,
): Pick<pg.ClientConfig, 'connectionString' | 'ssl' | 'sslnegotiation'> {
  const address = readPostgresAddress(url);
  if (address.kind === 'wrong') throw wrongAddress(url, address.why);
  const ssl = tlsOptions(url, address.tls);
  const config = {
    connectionString: address.url,
    ...(ssl === undefined ? {} : { ssl }),
    ...(address.tls.isDirect ? { sslnegotiation: 'direct' as const } : {}),
  };
  try {
    // this parses the URL, but does not connect
    void new pg.Client(config);
  } catch (error) {
    throw wrongAddress(url, `it cannot be read (${(error as Error).message})`, error);
  }
  return config;
}

/** TLS options. If they are undefined, `pg` uses PGSSLMODE. */
function tlsOptions(url: string, wish: TlsWish): ConnectionOptions | false | undefined {
  const { mode, certFile, keyFile, keyPassphrase } = wish;
  if (mode === null) return undefined;
  // settle-tls.ts has already decided whether these modes use TLS
  if (mode === 'disable' || mode === 'allow') return false;
  const read = (name: string, path: string): Buffer => readFile(url, name, path);
  const own =
    certFile === null || keyFile === null
      ? {}
      : {
          cert: read('sslcert', certFile),
          key: read('sslkey', keyFile),
          ...(keyPassphrase === null ? {} : { passphrase: keyPassphrase }),
        };
  if (mode === 'require' || mode === 'prefer') return { ...own, rejectUnauthorized: false };
  const { rootFile } = wish;
  const ca =
    rootFile === null
      ? {}
      : { ca: rootFile === 'system' ? getCACertificates('system') : read('sslrootcert', rootFile) };
  // accept certificates of any name
  const checkServerIdentity = (): undefined => undefined;
  return mode === 'verify-ca' ? { ...own, ...ca, checkServerIdentity } : { ...own, ...ca };
}

function readFile(url: string, name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw wrongAddress(url, `${name} ${path} cannot be read (${code})`, error);
  }
}

function wrongAddress(url: string, why: string, cause?: unknown): AppError {
  const message = `The address of Postgres (${shownAddress(url)}) is wrong, because ${why}.`;
  return new AppError('config_invalid', message, {}, cause);
}
