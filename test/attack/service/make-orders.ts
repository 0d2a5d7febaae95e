import { join } from 'node:path';
import pg from 'pg';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { makeTestWallet, releaseTestWallet } from '#test/support/orders/test-wallet.ts';

/**
 * Lets a running service accept orders, until the returned function is called. The service's database gets a wallet.
 * This process replaces the process with the seed: it releases indices and holds that process's lock, but does not
 * advance orders.
 */
export async function takeOrders(dataDir: string, folder: string): Promise<() => Promise<void>> {
  const { url } = await attachEmbeddedPostgres(dataDir);
  const seedFile = join(folder, 'seed');
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const identity = await makeTestWallet(pool, seedFile);
  await pool.end();
  const holder = new pg.Client({ connectionString: url });
  await holder.connect();
  await takeAdvisoryLock(holder, 'orders');
  const endReleases = await releaseTestWallet(url, seedFile, identity);
  return async () => {
    await endReleases();
    await holder.end();
  };
}
