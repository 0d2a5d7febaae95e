import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type CatchUpOptions, catchUp } from '#indexer/catch-up/catch-up.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions } from '#indexer/follow/follow-options.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { verifyChain } from '#indexer/verify/verify-chain.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import {
  createFilledDatabase,
  createTestDatabase,
  type FilledDatabase,
  type TestDatabase,
} from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { type Rows, rowsOf } from './derived-states.ts';
import { createDerivedTestTables, testDerivedTables } from './test-derived-tables.ts';

const laterTables = ['properties', 'runes'];
const earlierTables = derivedTables.filter(({ name }) => !laterTables.includes(name));

type Index = Partial<FollowOptions> & { readonly at?: string };
type Reach = { readonly at?: string; readonly until?: Height };
const forever = new AbortController().signal;

async function prepare({ pool }: TestDatabase): Promise<void> {
  await pinFingerprintKey(pool, 'regtest');
  await createDerivedTestTables(pool);
}

/**
 * Indexes of the golden chain reorg-1 with the derived tables of tests, for a file that creates one object of this
 * class at its top.
 */
export class CatchUpTests {
  readonly golden = new GoldenChain('reorg-1');
  readonly best = this.golden.chain.tip;
  readonly stale = this.golden.chain.staleBranches[0]!;
  dir = '';
  readonly #databases: TestDatabase[] = [];
  readonly #indexedBefores = new Map<string, Promise<FilledDatabase>>();
  readonly #cleanRows = new Map<string, Promise<Rows>>();

  constructor() {
    beforeAll(async () => {
      this.dir = await mkdtemp(join(tmpdir(), 'satscribe-catch-up-'));
      this.golden.writeFolder(this.dir);
    });
    afterEach(() => this.removeDatabases());
    afterAll(async () => {
      for (const filled of this.#indexedBefores.values()) await (await filled).drop();
      await rm(this.dir, { recursive: true, force: true });
    });
  }

  /** Removes the databases. A property calls this after each case, before its test ends. */
  async removeDatabases(): Promise<void> {
    for (const made of this.#databases.splice(0)) await made.drop();
  }

  async freshDatabase(): Promise<TestDatabase> {
    const made = await createTestDatabase();
    this.#databases.push(made);
    await prepare(made);
    return made;
  }

  async index({ pool }: TestDatabase, { at = this.best, ...options }: Index = {}): Promise<void> {
    const source = await openFolderSource(this.dir, { tip: at });
    await follow({
      source,
      pool,
      signal: forever,
      threads: parseThreads(),
      derivedTables: testDerivedTables,
      ...options,
    });
  }

  /**
   * An index up to a height, made by a version without the derived tables of tests and without rows of properties or
   * runes.
   */
  async indexedBefore({ at = this.best, until }: Reach = {}): Promise<TestDatabase> {
    const name = `${at} ${until}`;
    const filled =
      this.#indexedBefores.get(name) ??
      createFilledDatabase(async (database) => {
        await prepare(database);
        await this.index(database, {
          derivedTables: earlierTables,
          at,
          ...(until === undefined ? {} : { until }),
        });
      });
    this.#indexedBefores.set(name, filled);
    const made = await (await filled).clone();
    this.#databases.push(made);
    return made;
  }

  passOptions(
    { pool }: TestDatabase,
    source: CatchUpOptions['source'],
    options: Partial<CatchUpOptions> = {},
  ): CatchUpOptions {
    return {
      source,
      pool,
      signal: forever,
      settings: { indexAddresses: false, indexRunes: true, indexSats: false, indexSales: true },
      writer: new WriterActivity(),
      endsCaughtUp: true,
      derivedTables: testDerivedTables,
      threads: parseThreads(),
      bounds: { blocksMax: 7, lookMs: 10, mendedEveryMs: 30 },
      ...options,
    };
  }

  async makeTables(database: TestDatabase, at: string, options: Partial<CatchUpOptions> = {}): Promise<void> {
    const source = await openFolderSource(this.dir, { tip: at });
    await catchUp(this.passOptions(database, source, options));
  }

  /** The rows of an index that had the derived tables from its first block on. */
  #cleanRowsOf(options: Index): Promise<Rows> {
    const name = `${options.at} ${options.until}`;
    const rows = this.#cleanRows.get(name) ?? this.#indexedRows(options);
    this.#cleanRows.set(name, rows);
    return rows;
  }

  async #indexedRows(options: Index): Promise<Rows> {
    const database = await createTestDatabase();
    await prepare(database);
    await this.index(database, options);
    const rows = await rowsOf(database);
    await database.drop();
    return rows;
  }

  async expectClean(database: TestDatabase, options: Reach = {}): Promise<void> {
    expect(await rowsOf(database)).toEqual(await this.#cleanRowsOf({ at: this.best, ...options }));
  }

  async verified({ pool }: TestDatabase, at = this.best): Promise<unknown> {
    const source = await openFolderSource(this.dir, { tip: at });
    const { differences } = await verifyChain({
      source,
      pool,
      signal: forever,
      threads: parseThreads(),
      differencesMax: 20,
      derivedTables: testDerivedTables,
    });
    return differences;
  }
}
