import type pg from 'pg';

/** Most statements end within milliseconds, and a new connection costs more than them. Only what hangs is cut off. */
const cutAfterMs = 250;

/**
 * Runs `work` on a connection of the pool, and gives the connection back. If the signal is aborted before `work` has
 * begun, nothing is asked; if it is aborted meanwhile and `work` goes on, the connection is cut, and the server ends
 * its statement. `discard`: the connection is in no state to be used again.
 *
 * @param signal null: nobody could leave
 */
export async function withCutConnection<T>(
  pool: pg.Pool,
  signal: AbortSignal | null,
  work: (client: pg.PoolClient, discard: () => void) => Promise<T>,
): Promise<T> {
  // where connections are scarce, who is gone does not wait for one
  signal?.throwIfAborted();
  const client = await pool.connect();
  let isUseless = false;
  const discard = (): void => {
    isUseless = true;
  };
  let timer: NodeJS.Timeout | undefined;
  const cut = (): void => {
    discard();
    // with a statement running, it closes the socket at once
    void (client as unknown as pg.Client).end().catch(() => undefined);
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
