import { createPool } from '#kernel/pg/pool.ts';

/**
 * Keeps everyone else from reading these tables while `work` runs, or until it calls `unlock`. The lock also ends if
 * the work fails, because otherwise every later statement of the file would wait for the lock.
 *
 * @param tables separated by commas
 */
export async function whileLocked(
  { url }: { readonly url: string },
  tables: string,
  work: (unlock: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const locking = createPool(url, { max: 1 });
  const locker = await locking.connect();
  const unlock = async (): Promise<void> => {
    await locker.query('ROLLBACK');
  };
  try {
    await locker.query(`BEGIN; LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
    await work(unlock);
  } finally {
    await unlock();
    locker.release();
    await locking.end();
  }
}
