import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { undoAbove } from '#indexer/apply/undo.ts';
import { type CatchUpOptions, catchUp } from '#indexer/catch-up/catch-up.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions } from '#indexer/follow/follow-options.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { verifyChain } from '#indexer/verify/verify-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { catchUpFailpoints } from '#kernel/failpoint.ts';
import { asHeight, genesisHeight, type Height } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { CatchUpTask } from '#test/support/chain/catch-up-process.ts';
import { pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { lastPaymentHash, type Rows, rowsOf, statesOf } from '#test/support/chain/derived-states.ts';
import { readHashes, textsOfTables } from '#test/support/chain/event-rows.ts';
import { GoldenChain } from '#test/support/chain/golden-chain.ts';
import { paymentQuestions, payments, paymentsFrom } from '#test/support/chain/payments-table.ts';
import {
  createDerivedTestTables,
  stays,
  testDerivedTables,
} from '#test/support/chain/test-derived-tables.ts';
import {
  createFilledDatabase,
  createTestDatabase,
  type FilledDatabase,
  type TestDatabase,
} from '#test/support/database.ts';
import { SimulatedNode } from '#test/support/node/simulated-node.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { propertyBounds } from '#test/support/property-runs.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const golden = new GoldenChain('reorg-1');
const best = golden.chain.tip;
const [stale] = golden.chain.staleBranches;
const forkHeight = stale!.forkHeight;
const processFile = fileURLToPath(new URL('../../support/chain/catch-up-process.ts', import.meta.url));
type CatchUpFailpoint = (typeof catchUpFailpoints)[number];
const forever = new AbortController().signal;
let dir: string;
const databases: TestDatabase[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satscribe-catch-up-'));
  golden.writeFolder(dir);
});
afterEach(async () => {
  for (const made of databases.splice(0)) await made.drop();
});
afterAll(async () => {
  for (const filled of indexedBefores.values()) await (await filled).drop();
  await rm(dir, { recursive: true, force: true });
});

async function freshDatabase(): Promise<TestDatabase> {
  const made = await createTestDatabase();
  databases.push(made);
  await prepare(made);
  return made;
}

async function prepare({ pool }: TestDatabase): Promise<void> {
  await pinFingerprintKey(pool, 'regtest');
  await createDerivedTestTables(pool);
}

type Index = Partial<FollowOptions> & { readonly at?: string };

async function index({ pool }: TestDatabase, { at = best, ...options }: Index = {}): Promise<void> {
  const source = await openFolderSource(dir, { tip: at });
  await follow({
    source,
    pool,
    signal: forever,
    threads: parseThreads(),
    derivedTables: testDerivedTables,
    ...options,
  });
}

const indexedBefores = new Map<string, Promise<FilledDatabase>>();

/** An index that had no derived tables of tests, up to a height. */
async function indexedBefore({
  at = best,
  until,
}: {
  at?: string;
  until?: Height;
} = {}): Promise<TestDatabase> {
  const name = `${at} ${until}`;
  const filled =
    indexedBefores.get(name) ??
    createFilledDatabase(async (database) => {
      await prepare(database);
      await index(database, { derivedTables, at, ...(until === undefined ? {} : { until }) });
    });
  indexedBefores.set(name, filled);
  const made = await (await filled).clone();
  databases.push(made);
  return made;
}

function passOptions(
  { pool }: TestDatabase,
  source: CatchUpOptions['source'],
  options: Partial<CatchUpOptions> = {},
): CatchUpOptions {
  return {
    source,
    pool,
    signal: forever,
    settings: { indexAddresses: false },
    writer: new WriterActivity(),
    endsCaughtUp: true,
    derivedTables: testDerivedTables,
    threads: parseThreads(),
    bounds: { blocksMax: 7, lookMs: 10, mendedEveryMs: 30 },
    ...options,
  };
}

async function makeTables(
  database: TestDatabase,
  at: string,
  options: Partial<CatchUpOptions> = {},
): Promise<void> {
  const source = await openFolderSource(dir, { tip: at });
  await catchUp(passOptions(database, source, options));
}

const cleanRows = new Map<string, Promise<Rows>>();

/** The rows of an index that had the tables from its first block on. */
function cleanRowsOf(options: Index): Promise<Rows> {
  const name = `${options.at} ${options.until}`;
  const rows = cleanRows.get(name) ?? indexedRows(options);
  cleanRows.set(name, rows);
  return rows;
}

async function indexedRows(options: Index): Promise<Rows> {
  const database = await createTestDatabase();
  await prepare(database);
  await index(database, options);
  const rows = await rowsOf(database);
  await database.drop();
  return rows;
}

async function expectClean(
  database: TestDatabase,
  options: { at?: string; until?: Height } = {},
): Promise<void> {
  expect(await rowsOf(database)).toEqual(await cleanRowsOf({ at: best, ...options }));
}

async function verified({ pool }: TestDatabase, at = best): Promise<unknown> {
  const source = await openFolderSource(dir, { tip: at });
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

describe('a derived table that is added to an index', () => {
  test('is made by a process that is killed at every step, and is then as if it had been there from the first block', async () => {
    const database = await indexedBefore();
    const run = async (failpoint: CatchUpTask['failpoint']): Promise<unknown> => {
      const task: CatchUpTask = { url: database.url, dir, tip: best, failpoint };
      const child = fork(processFile, [JSON.stringify(task)], { stdio: 'inherit' });
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      return signal ?? code;
    };
    let reached = -1;
    // within the blocks of one table, and of two
    const kills: [CatchUpFailpoint, number][] = [
      ['catch-up', 2],
      ['catch-up-committed', 2],
      ['catch-up', 6],
      ['catch-up-committed', 1],
      ['hand-over', 1],
      ['handed-over', 1],
    ];
    expect([...new Set(kills.map(([point]) => point))]).toEqual(catchUpFailpoints);
    for (const [point, passes] of kills) {
      expect(await run([point, passes])).toBe('SIGKILL');
      const { test_stays: state, test_payments: paid } = await statesOf(database);
      if (point === 'handed-over') expect(state?.is_followed).toBe(true);
      else expect(state?.tip_height).toBeGreaterThan(reached);
      reached = state?.tip_height ?? reached;
      // what is told of events is as far as the rows
      if (paid?.is_followed === false) expect(await lastPaymentHash(database)).toBe(paid.tip_height);
    }
    expect(await run(null)).toBe(0);
    const states = await statesOf(database);
    expect(states['test_stays']?.is_followed).toBe(true);
    expect(states['test_payments']?.is_followed).toBe(true);
    await expectClean(database);
    expect(await verified(database)).toEqual([]);
  }, 180_000);

  test('is kept by a writer that is killed within a batch and after it', async () => {
    const database = await freshDatabase();
    for (const failpoint of [['transaction', 8] as const, ['committed', 1] as const]) {
      const task: CatchUpTask = { url: database.url, dir, tip: best, failpoint };
      const child = fork(processFile, [JSON.stringify(task)], { stdio: 'inherit' });
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    }
    const { rows } = await database.pool.query<{ height: number }>(
      'SELECT tip_height AS height FROM chain.state',
    );
    expect(rows[0]?.height).toBeGreaterThan(paymentsFrom);
    await index(database);
    await expectClean(database);
  }, 180_000);

  test('asks once a batch, also while the batch before it is being committed', async () => {
    const database = await freshDatabase();
    await index(database, { until: asHeight(paymentsFrom - 1) });
    const { pool } = database;
    const holder = await pool.connect();
    await holder.query('BEGIN; LOCK TABLE chain.test_payments IN EXCLUSIVE MODE');
    paymentQuestions.length = 0;
    const indexing = index(database, { bounds: { blocksMax: 3 } });
    await waitUntil(() => paymentQuestions.length === 2);
    await holder.query('COMMIT');
    holder.release();
    await indexing;
    const [first, second] = paymentQuestions;
    expect(first).toEqual({ below: paymentsFrom, isCommitting: false });
    expect(second).toEqual({ below: paymentsFrom, isCommitting: true });
    expect(paymentQuestions).toHaveLength(Math.ceil((golden.chain.headers.length - paymentsFrom) / 3));
    const spends = await pool.query(
      'SELECT FROM chain.test_coins WHERE spent_height - height BETWEEN 1 AND 5',
    );
    expect(spends.rowCount).toBeGreaterThan(0);
    await expectClean(database);
  });

  test('goes back with the chain, and goes on with it', async () => {
    const database = await indexedBefore();
    await index(database);
    await makeTables(database, best);
    const client = await database.pool.connect();
    try {
      const heights = [golden.chain.headers.length - 4, forkHeight, paymentsFrom - 1, 60];
      for (const height of heights.toSorted((a, b) => b - a)) {
        await undoAbove(client, asHeight(height), [], { tables: testDerivedTables });
        await expectClean(database, { until: asHeight(height) });
      }
    } finally {
      client.release();
    }
    await index(database);
    await expectClean(database);
  }, 180_000);

  test('delays no undo of blocks that it does not have by a build of its indexes', async () => {
    const database = await indexedBefore();
    await index(database);
    const client = await database.pool.connect();
    await undoAbove(client, asHeight(golden.chain.headers.length - 4), [], { tables: testDerivedTables });
    const missing = await missingIndexes(client, testDerivedTables);
    client.release();
    expect(missing).toContain('test_stays_height');
    await index(database);
    await makeTables(database, best);
    await expectClean(database);
  });

  test('is exact where the chain is reorganised below and above it meanwhile', async () => {
    const node = new SimulatedNode(golden);
    // the shorter branch is followed where the node calls the other one invalid
    const turnTo = (tip: string): void => {
      if (tip === best) node.invalid.delete(best);
      else node.invalid.add(best);
      node.setTip(tip);
    };
    turnTo(stale!.tip);
    const database = await indexedBefore({ at: stale!.tip });
    const { pool } = database;
    const stop = new AbortController();
    const activity = new WriterActivity();
    const following = follow({
      source: node,
      pool,
      signal: stop.signal,
      threads: parseThreads(),
      derivedTables: testDerivedTables,
      activity,
      bounds: { pollMs: 20 },
    });
    const tipIs = async (hash: string): Promise<void> => {
      for (;;) {
        const { rows } = await pool.query<{ hash: Buffer }>('SELECT tip_hash AS hash FROM chain.state');
        if (Buffer.from(rows[0]!.hash).reverse().toString('hex') === hash) return;
        await sleep(10);
      }
    };
    // below the tip of the tables, above it, and again below; each is waited for within the pass
    const turns = new Map([
      [20, best],
      [forkHeight + 3, stale!.tip],
    ]);
    let turning = Promise.resolve();
    let isOnStale = true;
    await catchUp(
      passOptions(database, node, {
        writer: activity,
        bounds: { blocksMax: 1, lookMs: 10 },
        onProgress: ({ height }) => {
          const to = turns.get(height);
          if (to === undefined) return;
          turns.delete(height);
          isOnStale = to !== best;
          turnTo(to);
          turning = tipIs(to);
        },
      }),
    );
    await turning;
    expect(turns.size).toBe(0);
    const tip = isOnStale ? stale!.tip : best;
    await tipIs(tip);
    await expectClean(database, { at: tip });
    // the writer keeps them from here on
    const last = isOnStale ? best : stale!.tip;
    turnTo(last);
    await tipIs(last);
    await expectClean(database, { at: last });
    stop.abort();
    await following;
    expect(await verified(database, last)).toEqual([]);
  }, 180_000);

  test('is left where it is when it is not wanted any more, and goes on from there', async () => {
    const database = await freshDatabase();
    const { pool } = database;
    const kind = payments.eventKind!;
    await index(database, { until: asHeight(130) });
    expect(await kind.whyNotReadable(pool)).toBeNull();
    const without = testDerivedTables.map((table) =>
      table === stays || table === payments ? { ...table, isWanted: () => false } : table,
    );
    await index(database, { until: asHeight(150), derivedTables: without });
    expect((await statesOf(database))['test_stays']).toMatchObject({ is_followed: false, tip_height: 130 });
    expect(await verified(database)).toEqual([]);
    expect(await lastPaymentHash(database)).toBe(130);
    expect(await kind.whyNotReadable(pool)).toContain('has reached height 130 of 145');
    await index(database);
    await makeTables(database, best);
    expect(await kind.whyNotReadable(pool)).toBeNull();
    await expectClean(database);
  });

  test('has texts whose hashes are stored, from the tables and from the writer', async () => {
    const database = await indexedBefore({ until: asHeight(140) });
    await index(database, { until: asHeight(140) });
    await makeTables(database, best);
    await index(database);
    const kind = payments.eventKind!;
    const hashes = await readHashes(database.pool, kind);
    const texts = (await textsOfTables(database.pool, 'regtest', kind)).filter(
      ({ height }) => height >= kind.firstHeight(networks.regtest),
    );
    expect([...hashes].map(([height, { sha256 }]) => [height, sha256])).toEqual(
      texts.map(({ height, sha256 }) => [height, sha256]),
    );
    const { rows } = await database.pool.query<{ height: number; events: Buffer }>(
      'SELECT height, events FROM chain.outbox_texts WHERE kind = $1 AND events IS NOT NULL ORDER BY height',
      [kind.number],
    );
    // the writer stores those of its blocks, a pass stores none
    expect(rows[0]?.height).toBe(141);
    expect(rows.map(({ height, events }) => [height, inflateSync(events).toString('latin1')])).toEqual(
      texts.filter(({ height }) => height > 140).map(({ height, text }) => [height, text]),
    );
    expect(texts.some(({ count }) => count > 2)).toBe(true);
  });

  test('that lacks a row, or has one too many, is found by verify', async () => {
    const database = await freshDatabase();
    await index(database);
    const { pool } = database;
    await pool.query('DELETE FROM chain.test_payments WHERE height = 125');
    await pool.query('UPDATE chain.test_payments SET spent_sats = spent_sats + 1 WHERE height = 126');
    await pool.query('DELETE FROM chain.event_hashes WHERE kind = 8 AND height = 128');
    await pool.query('INSERT INTO chain.test_stays VALUES (999999, 127, 0, NULL)');
    const { rows } = await pool.query<{ key: number }>(
      `UPDATE chain.test_stays SET spent_height = NULL WHERE (key, height, step) IN (
         SELECT key, height, step FROM chain.test_stays WHERE spent_height > height LIMIT 1) RETURNING key`,
    );
    expect(rows).toHaveLength(1);
    const found = (await verified(database)) as { table: string; height: number }[];
    expect(found.map(({ table, height }) => `${table} ${height}`)).toEqual(
      expect.arrayContaining([
        'chain.test_payments 125',
        'chain.test_payments 126',
        'chain.test_stays 127',
        'chain.event_hashes 128',
      ]),
    );
    expect(found.filter(({ table }) => table === 'chain.test_stays').length).toBeGreaterThan(1);
  });
});

describe('what keeps a derived table from being made', () => {
  test('is said where a node has pruned a block, and asked for again', async () => {
    const database = await indexedBefore();
    await index(database);
    const node = new SimulatedNode(golden);
    let isPruned = true;
    node.onRead = ({ height }) => {
      if (isPruned && height === 40) throw new AppError('node_pruned', 'The node has pruned block 40.');
    };
    const told: (number | null)[] = [];
    await catchUp(
      passOptions(database, node, {
        onProblem: (_, delayMs) => {
          told.push(delayMs);
          if (told.length === 2) isPruned = false;
        },
        onProgress: () => undefined,
      }),
    );
    expect(told).toEqual([30, 30]);
    await expectClean(database);
  });

  test('of a folder that lacks a block ends the pass, with the reason in the table', async () => {
    const database = await indexedBefore();
    await index(database);
    const other = await mkdtemp(join(tmpdir(), 'satscribe-catch-up-lacks-'));
    golden.writeFolder(other);
    const source = await openFolderSource(other, { tip: best });
    const block = (await readdir(join(other, 'blocks'))).find((name) => name.startsWith('0000050-'));
    await rm(join(other, 'blocks', block!));
    await catchUp(passOptions(database, source));
    expect((await statesOf(database))['test_stays']).toMatchObject({
      is_followed: false,
      tip_height: 49,
      problem_code: 'block_unavailable',
    });
    await rm(other, { recursive: true });
    // the next start resumes, and reports no problem
    await makeTables(database, best);
    await expectClean(database);
  });

  test('two processes at once do not: one of them waits', async () => {
    const database = await indexedBefore();
    await index(database);
    await Promise.all([makeTables(database, best), makeTables(database, best)]);
    await expectClean(database);
  });
});

test('whatever happens to chain and pass meanwhile, the rows are those of a clean index', async () => {
  const tips = [best, stale!.tip];
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('follow' as const),
      tip: fc.nat(1),
      until: fc.integer({ min: 90, max: 260 }),
    }),
    fc.record({ kind: fc.constant('undo' as const), height: fc.integer({ min: 60, max: 200 }) }),
    // after this many batches its connections are cut in the middle of its work
    fc.record({
      kind: fc.constant('pass' as const),
      batches: fc.integer({ min: 1, max: 30 }),
      blocks: fc.integer({ min: 1, max: 40 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 9 }), async (steps) => {
      const database = await indexedBefore({ until: asHeight(150) });
      let at = best;
      for (const one of steps) {
        if (one.kind === 'follow') {
          at = tips[one.tip]!;
          await index(database, { at, until: asHeight(one.until) });
        } else if (one.kind === 'undo') {
          const client = await database.pool.connect();
          await undoAbove(client, asHeight(one.height), [], { tables: testDerivedTables });
          client.release();
        } else {
          await index(database, { at, until: genesisHeight });
          const stop = new AbortController();
          let left = one.batches;
          const cut = (): void => {
            left--;
            if (left > 0 || stop.signal.aborted) return;
            stop.abort();
            void database.pool
              .query(
                `SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE l.locktype = 'advisory' AND l.objid = 7700106
                   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
              )
              .catch(() => undefined);
          };
          await makeTables(database, at, {
            signal: stop.signal,
            bounds: { blocksMax: one.blocks, lookMs: 5 },
            onProgress: cut,
          });
        }
      }
      at = best;
      await index(database, { at });
      await makeTables(database, at);
      await expectClean(database, { at });
      for (const made of databases.splice(0)) await made.drop();
    }),
    propertyBounds(2),
  );
}, 300_000);
