import type pg from 'pg';

/**
 * Runs `fn` in a transaction and commits; any error rolls back and is thrown on. With a pool the connection is
 * taken and given back here, and thrown away where even the rollback fails. With a client `fn` runs on it, and
 * it must not be in a transaction already.
 */
export async function withTransaction<T>(
  target: pg.Pool | pg.ClientBase,
  fn: (tx: pg.ClientBase) => Promise<T>,
  begin = 'BEGIN',
): Promise<T> {
  if (!isPool(target)) return runTransaction(target, fn, begin);
  const client = await target.connect();
  let broken: Error | undefined;
  try {
    return await runTransaction(client, fn, begin, (error) => {
      broken = error;
    });
  } finally {
    client.release(broken);
  }
}

async function runTransaction<C extends pg.ClientBase, T>(
  client: C,
  fn: (tx: C) => Promise<T>,
  begin: string,
  onBroken?: (error: Error) => void,
): Promise<T> {
  await client.query(begin);
  try {
    const value = await fn(client);
    await client.query('COMMIT');
    return value;
  } catch (error) {
    try {
      await client.query('ROLLBACK');
    } catch (rollbackError) {
      // The first error tells what went wrong; this one only that the connection is unusable.
      onBroken?.(rollbackError as Error);
    }
    throw error;
  }
}

function isPool(target: pg.Pool | pg.ClientBase): target is pg.Pool {
  return 'totalCount' in target;
}
