import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { createPool } from '#kernel/pg/pool.ts';
import { folderSource } from '#market/imports/collection-source.ts';
import { importCollection } from '#market/imports/import-collection.ts';
import type { Database } from '#src/app/database/database.ts';
import { endsAt } from '#wallet/indices/branch-ends.ts';
import { raiseMark } from '#wallet/indices/mark-file.ts';
import { newSeedWords, writeSeedFile } from '#wallet/seed-file.ts';
import { identityOfSeedFile } from '#wallet/signer.ts';
import { putWallet, readWallet } from '#wallet/wallet.store.ts';

/** Some rows each. */
const statementTimeoutMs = 30_000;

export interface DemoContents {
  /** The folder with a folder for each collection. */
  readonly collections: string;
  /** Null: no orders are taken. */
  readonly seedFile: string | null;
}

/** Adds data to the demo's database that its blocks lack: the collections of the market, and a wallet. */
export async function fillDemo({ url }: Database, { collections, seedFile }: DemoContents): Promise<void> {
  const pool = createPool(url, { applicationName: 'satscribe demo', max: 1, statementTimeoutMs });
  try {
    for (const name of await readdir(collections))
      await importCollection(pool, folderSource(join(collections, name)));
    if (seedFile !== null) await makeWallet(pool, seedFile);
  } finally {
    await pool.end();
  }
}

/** Opens the wallet of the seed file, which is made if it is missing. A wallet of the database stays. */
async function makeWallet(pool: pg.Pool, seedFile: string): Promise<void> {
  if ((await readWallet(pool)) !== null) return;
  const isThere = (await lstat(seedFile).catch(() => null)) !== null;
  if (!isThere) await writeSeedFile(seedFile, newSeedWords());
  const identity = await identityOfSeedFile(seedFile, 'regtest');
  // beside the seed file, where an older database of this demo may have left one
  const first = await raiseMark(`${seedFile}.mark`, identity, endsAt(0));
  await putWallet(pool, identity, first);
}
