import type pg from 'pg';
import { isPipelined, socketOf } from './pool.ts';

/**
 * How long a statement may continue before its connection is cut, in ms. Most statements end within milliseconds, and a
 * new connection costs more than such a statement, so only hanging connections are cut.
 */
const cutAfterMs = 250;

/**
 * Runs `work` on a connection of the pool, and then returns the connection to the pool. If the signal is aborted before
 * `work` has begun, no query is sent. If the signal is aborted while `work` runs, the connection is cut, and the server
 * ends the statement. `work` calls `discard` if the connection must not be used again.
 *
 * @param signal null if no client could disconnect
 */
export async function withCutConnection<T>(
  pool: pg.Pool,
  signal: AbortSignal | null,
  work: (client: pg.PoolClient, discard: () => void) => Promise<T>,
): Promise<T> {
  // disconnected clients stop waiting for a connection, which may be scarce
  signal?.throwIfAborted();
  const client = await pool.connect();
  let isUseless = false;
  const discard = (): void => {
    isUseless = true;
  };
  let timer: NodeJS.Timeout | undefined;
  const cut = (): void => {
    discard();
    // `end` would wait for the running statements of a pipelined connection
    if (isPipelined(client)) socketOf(client).destroy();
    // if a statement is running, this closes the socket immediately
    else void (client as unknown as pg.Client).end().catch(() => undefined);
  };
  const onAbort = (): void => {
    timer = setTimeout(cut, cutAfterMs);
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    return await work(client, discard);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    client.release(isUseless);
  }
}
