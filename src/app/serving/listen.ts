import { lookup } from 'node:dns/promises';
import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#kernel/errors/app-error.ts';

/** Throws if the address cannot be listened on, before long work that would be in vain. */
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
 * Connections that the operating system completes before we take them, as many as it allows by default. With Node's 511
 * a burst of connections makes those of others wait for a second, until they ask the system again.
 */
const backlog = 4_096;

/** Listens, and returns the port: 0 takes a free one. Throws `port_in_use` or `address_unusable`. */
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
 * The address of a host, IPv4 if it has one. For the name `localhost` Fastify opens a server for each address, and all
 * but the first lack what we set on `app.server`: the limit of connections, their count, and `checkContinue`.
 */
async function oneAddressOf(host: string): Promise<string> {
  const { address } = await lookup(host, { order: 'ipv4first' });
  if (!address.includes('%')) return address;
  // no URL has one, and the service asks itself at its start
  const message = `Cannot listen on ${host}: an address with a zone is not supported.`;
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

/** A browser cannot open 0.0.0.0 or ::, so the loopback address, which they include, is shown. */
export function addressOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
