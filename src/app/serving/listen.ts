import { lookup } from 'node:dns/promises';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#kernel/errors/app-error.ts';

/** Throws if the process cannot listen on the address. Call it before long work that would otherwise be wasted. */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    const address = await oneAddressOf(host);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, address, () => server.close(() => resolve()));
    });
  } catch (error) {
    throw listenError(error, host, port);
  }
}

/**
 * Maximum number of connections that the operating system completes before we accept them. It is the default of the
 * operating system. With Node's default of 511, a burst of connections would make other clients wait for a second,
 * until their system tries again.
 */
const backlog = 4_096;

/**
 * Starts listening, and returns the port. If the given port is 0, a free port is used. Throws `port_in_use` or
 * `address_unusable`.
 */
export async function listen(
  app: Pick<FastifyInstance, 'listen' | 'server'>,
  host: string,
  port: number,
): Promise<number> {
  try {
    await app.listen({ host: await oneAddressOf(host), port, backlog });
  } catch (error) {
    throw listenError(error, host, port);
  }
  const address = app.server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

/**
 * Returns one address of a host: IPv4 if the host has such an address. For the name `localhost` Fastify would open a
 * server for each address. All servers except the first would then lack the settings that we make on `app.server`: the
 * limit and the count of connections, and `checkContinue`.
 */
async function oneAddressOf(host: string): Promise<string> {
  const { address } = await lookup(host, { order: 'ipv4first' });
  if (!address.includes('%')) return address;
  // a URL cannot contain a zone, and the service sends a request to itself at its start
  const message = `Cannot listen on ${host}, because an address with a zone is not supported.`;
  throw new AppError('address_unusable', message, { host });
}

function listenError(error: unknown, host: string, port: number): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new AppError('port_in_use', `Port ${port} of ${host} is in use.`, { host, port }, error);
  }
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error;
  const message = `Cannot listen on port ${port} of ${host}: ${(error as Error).message}`;
  return new AppError('address_unusable', message, { host, port }, error);
}

/**
 * Returns the address to show for a host. A browser cannot open 0.0.0.0 or ::, so the loopback address, which both
 * include, is shown.
 */
export function addressOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
