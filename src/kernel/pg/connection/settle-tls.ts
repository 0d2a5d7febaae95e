import { AppError } from '#kernel/errors/app-error.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { readPostgresAddress, type TlsMode, withTlsMode } from './postgres-address.ts';

/** Modes that libpq tries, in its order. */
const attempts: Partial<Record<TlsMode, readonly [TlsMode, TlsMode]>> = {
  prefer: ['require', 'disable'],
  allow: ['disable', 'require'],
};

/**
 * The database URL, with the mode that the server accepts if `sslmode` is `prefer` or `allow`. To find this mode, one
 * connection is opened. Every connection of the process then has the same mode. If the failure is not about TLS, the
 * next connection reports it.
 */
export async function settleTls(url: string): Promise<string> {
  const address = readPostgresAddress(url);
  const modes = address.kind === 'address' ? attempts[address.tls.mode ?? 'disable'] : undefined;
  if (modes === undefined) return url;
  for (const mode of modes) {
    const tried = withTlsMode(url, mode);
    try {
      const client = await connectClient(tried);
      await client.end();
      return tried;
    } catch (error) {
      if (!isAboutTls(error)) return tried;
    }
  }
  return withTlsMode(url, modes[0]);
}

/** Whether an error is about TLS. A server may accept an account only with TLS, or only without TLS. */
const isAboutTls = (error: unknown): boolean =>
  error instanceof AppError &&
  (error.code === 'postgres_tls' || (error.cause as { code?: unknown } | undefined)?.code === '28000');
