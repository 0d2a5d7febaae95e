import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect } from 'vitest';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { undoAbove } from '#indexer/apply/undo.ts';
import { type CatchUpOptions, catchUp } from '#indexer/catch-up/catch-up.ts';
import { remakeTable } from '#indexer/derived/derived-state.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { sales } from '#indexer/derived/sales/sales.ts';
import { follow } from '#indexer/follow/follow.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { verifyChain } from '#indexer/verify/verify-chain.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import { regtestGenesis } from '#test/builders/block.ts';
import { BlockFolder } from '#test/builders/block-folder.ts';
import { coinbaseMaturity } from '#test/builders/valid-blocks.ts';
import type { ModelBlock } from '#test/chaos/chain/chain-state.ts';
import { RandomBlocks } from '#test/chaos/chain/random-blocks.ts';
import { dumpChain, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { readHashes } from '#test/support/chain/events/event-rows.ts';
import { createFilledDatabase, type FilledDatabase, type TestDatabase } from '#test/support/database.ts';
import { parseThreads } from '#test/support/parse-threads.ts';

export type Branch = 'best' | 'stale';
interface Reach {
  readonly at?: Branch;
  readonly until?: number;
  readonly indexSales?: boolean;
}

const forever = new AbortController().signal;
/** Number of blocks with sales, and how many of them both branches share. */
const soldBlocks = 36;
const commonBlocks = 20;
/** Height of the last block that both branches share. */
export const forkHeight = coinbaseMaturity + commonBlocks;
export const bestHeight = coinbaseMaturity + soldBlocks;

/** Indexes of a random chain with sales, in two branches. A file creates one object of this class at its top. */
export class SoldChain {
  readonly dirs: Readonly<Record<Branch, string>>;
  readonly #dir = mkdtempSync(join(tmpdir(), 'satscribe-sold-'));
  readonly #databases: TestDatabase[] = [];
  /** Indexed databases, by reach. Each is indexed once, and cloned for each test that starts with it. */
  readonly #filled = new Map<string, Promise<FilledDatabase>>();
  /** Rows of a clean index, by reach. Each test compares its own rows with these. */
  readonly #clean = new Map<string, Promise<unknown>>();

  constructor(seed: string) {
    const blocks = new RandomBlocks(seed);
    const grown = (from: readonly ModelBlock[], count: number): ModelBlock[] => {
      const made = [...from];
      for (let added = 0; added < count; added++) made.push(blocks.next(made.at(-1)!.after, []));
      return made;
    };
    const common = grown(blocks.base(), commonBlocks);
    const chains = {
      best: grown(common, soldBlocks - commonBlocks),
      stale: grown(common, soldBlocks - commonBlocks - 3),
    };
    this.dirs = { best: join(this.#dir, 'best'), stale: join(this.#dir, 'stale') };
    for (const branch of ['best', 'stale'] as const) {
      const folder = new BlockFolder(this.dirs[branch]);
      folder.add(0, regtestGenesis, null);
      for (const { block } of chains[branch]) folder.add(block.height, block, block.spent);
      folder.finish(false, {});
    }
    afterEach(() => this.removeDatabases());
    afterAll(async () => {
      for (const filled of this.#filled.values()) await (await filled).drop();
      rmSync(this.#dir, { recursive: true, force: true });
    });
  }

  /** Removes the databases. A property calls this after each case. */
  async removeDatabases(): Promise<void> {
    for (const made of this.#databases.splice(0)) await made.drop();
  }

  async indexed(reach: Reach = {}): Promise<TestDatabase> {
    const database = await (await this.#filledTo(reach)).clone();
    this.#databases.push(database);
    return database;
  }

  #filledTo(reach: Reach): Promise<FilledDatabase> {
    return once(this.#filled, JSON.stringify(reach), () =>
      createFilledDatabase(async (database) => {
        await pinFingerprintKey(database.pool, 'regtest');
        await this.index(database, reach);
      }),
    );
  }

  async index({ pool }: TestDatabase, { at = 'best', until, indexSales = true }: Reach = {}): Promise<void> {
    await follow({
      source: await openFolderSource(this.dirs[at]),
      pool,
      signal: forever,
      threads: parseThreads(),
      indexSales,
      ...(until === undefined ? {} : { until: asHeight(until) }),
    });
  }

  /** Runs a catch-up pass until it ends or the signal aborts it. */
  async pass({ pool }: TestDatabase, at: Branch, options: Partial<CatchUpOptions> = {}): Promise<void> {
    await catchUp({
      source: await openFolderSource(this.dirs[at]),
      pool,
      signal: forever,
      settings: { indexAddresses: false, indexRunes: true, indexSats: false, indexSales: true },
      writer: new WriterActivity(),
      endsCaughtUp: true,
      threads: parseThreads(),
      bounds: { blocksMax: 5, lookMs: 10, mendedEveryMs: 30 },
      ...options,
    });
  }

  /** Runs a pass that ends after the batch that reaches this height. */
  async passTo(database: TestDatabase, height: number, at: Branch = 'best'): Promise<void> {
    const stop = new AbortController();
    await this.pass(database, at, {
      signal: stop.signal,
      onProgress: (progress) => {
        if (progress.height >= height) stop.abort();
      },
    });
  }

  async undo({ pool }: TestDatabase, height: Height | -1): Promise<void> {
    const client = await pool.connect();
    await undoAbove(client, height, []);
    client.release();
  }

  async remake({ pool }: TestDatabase): Promise<unknown> {
    return withTransaction(pool, (tx) => remakeTable(tx, derivedTables, sales));
  }

  async verified({ pool }: TestDatabase, at: Branch = 'best'): Promise<unknown> {
    const { differences } = await verifyChain({
      source: await openFolderSource(this.dirs[at]),
      pool,
      signal: forever,
      threads: parseThreads(),
      differencesMax: 9,
    });
    return differences;
  }

  /** Checks that all rows and hashes equal those of an index that always had these rules. */
  async expectClean(database: TestDatabase, reach: Reach = {}): Promise<void> {
    const clean = once(this.#clean, JSON.stringify(reach), async () => rowsOf(await this.indexed(reach)));
    expect(await rowsOf(database)).toEqual(await clean);
  }
}

/** Makes a value for the first caller, and returns the same value to later callers. */
function once<T>(made: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const found = made.get(name) ?? make();
  made.set(name, found);
  return found;
}

async function rowsOf({ pool }: TestDatabase): Promise<unknown> {
  const { rows: states } = await pool.query<{ state: unknown }>(
    `SELECT to_jsonb(d) - 'problem_since' AS state FROM chain.derived_tables d ORDER BY name`,
  );
  const { rows: counts } = await pool.query<{ height: number; count: number }>(
    `SELECT DISTINCT ON (height) height, t.event_count AS count FROM chain.outbox_texts t JOIN chain.blocks USING (height)
     WHERE kind = ${storedSaleKind.number} ORDER BY height, t.sequence DESC`,
  );
  const hashes = [...(await readHashes(pool, storedSaleKind))];
  return { chain: await dumpChain(pool), states, counts, hashes };
}

/**
 * Changes an index as if other rules had made it. It gets other prices, texts and hashes, lacks some sales, and has
 * rows that are not sales under the current rules.
 */
export async function ageSales({ pool }: TestDatabase): Promise<void> {
  await pool.query(`
    UPDATE chain.derived_tables SET rules = 1 WHERE name = 'sales';
    DELETE FROM chain.sales WHERE (height + tx_index) % 3 = 0;
    UPDATE chain.sales SET rules = 1, price = price + 1;
    INSERT INTO chain.sales (gross_payout, price, height, tx_index, input, place, key, bundle, payout_output, rules,
      class, form, confidence, sighash, wash, txid, maker)
    SELECT 1, 1, height, 500, 0, 0, 0, 1, 0, 1, 1, 5, 2, 131, false, hash, '' FROM chain.blocks WHERE height % 7 = 1
    ON CONFLICT DO NOTHING;
    UPDATE chain.event_hashes SET version = 1, sha256 = cumulative_sha256 WHERE kind = 2;
    UPDATE chain.outbox_texts SET event_count = event_count + 1, events = '\\x00' WHERE kind = 2`);
}
