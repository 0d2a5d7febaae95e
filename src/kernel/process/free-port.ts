import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Range of the returned ports. By default it is below the ports that Linux (from 32768) and macOS (from 49152) give to
 * outgoing connections. Such a connection could take the port before the caller's server listens, and some servers need
 * 10 s until then.
 */
const first = 12_000;
const last = 29_999;
const triesMost = 100;
/** Ports that were returned, because their servers may not listen yet. */
const given = new Set<number>();

/**
 * A port of this machine that no process listens on. Another process that chooses a port may take it before it is used.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < triesMost; tries++) {
    const port = randomInt(first, last + 1);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`no free port between ${first} and ${last} was found in ${triesMost} tries`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => {
      server.close(() => resolve(true));
    });
  });
}
