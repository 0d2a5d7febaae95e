import { createServer } from 'node:net';
import { buildApp } from '#http/app.ts';
import type { App } from '#http/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { createPostgresEngine } from '#search/postgres-engine.ts';
import { createSearchService } from '#search/search-service.ts';
import type { CommandContext } from '#src/commands/command.ts';
import type { Database } from './database.ts';

/** Serves the API and the pages of a database until the lifecycle ends. Gives the address that a browser on this machine can open. */
export async function serveHttp(
  { config, lifecycle, logger }: CommandContext,
  { readers }: Database,
  network: NetworkName,
): Promise<{ address: string }> {
  const engine = createPostgresEngine();
  lifecycle.add('search engine', () => engine.close());
  const app = buildApp({
    pool: readers,
    search: createSearchService({ pool: readers, engine }),
    network: networks[network],
    logger: logger.child({ part: 'http' }),
  });
  lifecycle.add('http', () => app.close());
  const port = await listen(app, config.host, config.port);
  return { address: `http://${addressOf(config.host)}:${port}` };
}

/** Throws where nobody could listen there, before a long work that would be in vain. */
export async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

async function listen(app: App, host: string, port: number): Promise<number> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error, host, port);
  }
  const address = app.server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

function listenError(error: unknown, host: string, port: number): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new AppError('port_in_use', `Port ${port} of ${host} is in use.`, { host, port }, error);
  }
  if (syscall !== 'listen' && syscall !== 'getaddrinfo') return error;
  const message = `It is not possible to listen on port ${port} of ${host}: ${(error as Error).message}`;
  return new AppError('address_unusable', message, { host, port }, error);
}

/** All addresses (0.0.0.0, ::) are no address to open: the loopback one is among them. */
function addressOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
