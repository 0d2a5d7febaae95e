import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions, IndexSummary } from '#indexer/follow/follow-options.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { pinFingerprintKey } from './chain-dump.ts';
import type { GoldenChain } from './golden/golden-chain.ts';

export interface IndexTests {
  /** An empty database with the fingerprint key of tests. It is removed at the end of the test. */
  freshDatabase(this: void, network?: string): Promise<TestDatabase>;
  /** Removes a database at the end of the test. */
  removeLater(this: void, database: TestDatabase): TestDatabase;
  /** The path of a folder that does not exist yet. The folder is removed at the end of the file. */
  newFolder(this: void): string;
  /** A new folder with the blocks of a chain. It is removed at the end of the file. */
  folderOf(this: void, golden: GoldenChain): string;
}

/** Creates databases and folders for tests. A test file calls this at its top. */
export function indexTests(): IndexTests {
  const databases: TestDatabase[] = [];
  let root: string;
  let folders = 0;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'satscribe-index-'));
  });
  afterEach(async () => {
    for (const made of databases.splice(0)) await made.drop();
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  const removeLater = (database: TestDatabase): TestDatabase => {
    databases.push(database);
    return database;
  };
  const newFolder = (): string => join(root, `folder-${folders++}`);
  return {
    freshDatabase: async (network = 'regtest') => {
      const made = removeLater(await createTestDatabase());
      await pinFingerprintKey(made.pool, network);
      return made;
    },
    removeLater,
    newFolder,
    folderOf: (golden) => {
      const dir = newFolder();
      golden.writeFolder(dir);
      return dir;
    },
  };
}

/** Indexes a folder, up to its best tip or another one. */
export async function indexFolder(
  pool: pg.Pool,
  dir: string,
  options: Partial<FollowOptions> & { readonly tip?: string } = {},
): Promise<IndexSummary> {
  const { tip, ...others } = options;
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  return follow({ source, pool, signal: new AbortController().signal, threads: parseThreads(), ...others });
}
