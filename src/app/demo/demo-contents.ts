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

/** How long a statement may take, in ms. Each statement writes only a few rows. */
const statementTimeoutMs = 30_000;

export interface DemoContents {
  /** The parent folder, with one folder for each collection. */
  readonly collections: string;
  /** `null` if the demo accepts no orders. */
  readonly seedFile: string | null;
}

/** Adds data to the demo's database that its blocks do not contain: the collections of the market, and a wallet. */
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

/**
 * Creates the wallet from the seed file, and creates the seed file if it is missing. A wallet that the database already
 * has is kept.
 */
async function makeWallet(pool: pg.Pool, seedFile: string): Promise<void> {
  if ((await readWallet(pool)) !== null) return;
  const isThere = (await lstat(seedFile).catch(() => null)) !== null;
  if (!isThere) await writeSeedFile(seedFile, newSeedWords());
  const identity = await identityOfSeedFile(seedFile, 'regtest');
  // the mark is stored beside the seed file, where an older database of this demo may have left a mark
  const first = await raiseMark(`${seedFile}.mark`, identity, endsAt(0));
  await putWallet(pool, identity, first);
}
