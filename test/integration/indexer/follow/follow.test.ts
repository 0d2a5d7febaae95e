import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { type DiskNeed, diskNeed, neededBytes } from '#indexer/follow/disk-need.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { SearchDemand } from '#kernel/concurrency/search-demand.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { dumpChain, holdWriterLock, pinFingerprintKey } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { startFollower as start } from '#test/support/node/running-follower.ts';
import { SimulatedNode } from '#test/support/node/simulated-node.ts';
import { parseThreads } from '#test/support/parse-threads.ts';
import { propertyBounds } from '#test/support/property-runs.ts';
import { waitUntil } from '#test/support/wait-until.ts';

const golden = new GoldenChain('reorg-1');
const [best, short, long] = golden.tips().map(({ tip }) => tip) as [string, string, string];
let dir: string;
let database: TestDatabase;
const databases: TestDatabase[] = [];

async function freshDatabase(): Promise<TestDatabase> {
  const made = await createTestDatabase();
  databases.push(made);
  await pinFingerprintKey(made.pool, 'regtest');
  return made;
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satscribe-follow-'));
  golden.writeFolder(dir);
});
beforeEach(async () => {
  database = await freshDatabase();
});
afterEach(async () => {
  for (const made of databases.splice(0)) await made.drop();
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const cleanDumps = new Map<string, Record<string, string[]>>();

/** Rows of a clean index of the chain that ends in `tip`, up to a height. */
async function cleanDump(tip: string, until?: number): Promise<Record<string, string[]>> {
  const name = `${tip} ${until}`;
  const known = cleanDumps.get(name);
  if (known !== undefined) return known;
  const { pool } = await freshDatabase();
  const source = await openFolderSource(dir, { tip });
  const { signal } = new AbortController();
  await follow({
    source,
    pool,
    signal,
    threads: parseThreads(),
    ...(until === undefined ? {} : { until: asHeight(until) }),
  });
  const dump = await dumpChain(pool);
  cleanDumps.set(name, dump);
  return dump;
}

describe('a follower of a node', () => {
  test('syncs, continues with every block, and changes to every better chain', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(best, 105);
    const running = start(node, database.pool);
    await running.until(displayHash(node.best.at(-1)!.hash));
    for (const height of [106, 107, 110]) {
      node.setTip(best, height);
      await running.until(displayHash(node.best.at(-1)!.hash));
      expect(await dumpChain(database.pool)).toEqual(await cleanDump(best, height));
    }
    for (const tip of [short, long, best]) {
      const before = node.best.length;
      node.setTip(tip);
      if (node.best.length < before) node.invalid.add(displayHash((await lastTip(database.pool))!));
      await running.until(tip);
      expect(await dumpChain(database.pool)).toEqual(await cleanDump(tip));
    }
    const summary = await running.stop();
    expect(summary).toMatchObject({ hash: best, height: golden.chain.headers.length - 1 });
    expect(summary.undoneAbove).not.toBeNull();
    const client = await database.pool.connect();
    expect(await missingIndexes(client)).toEqual([]);
    client.release();
  });

  test('builds no index before there are blocks, so that the first load is quick', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(best, -1);
    const running = start(node, database.pool);
    await until(() => running.statuses.at(-1)?.state === 'following');
    // wait for several polls of a node without blocks
    const looks = node.tipsGiven;
    await until(() => node.tipsGiven >= looks + 5);
    const client = await database.pool.connect();
    expect(await missingIndexes(client)).toContain('inscriptions_id');
    node.setTip(best);
    await running.until(best);
    await until(async () => (await missingIndexes(client)).length === 0);
    client.release();
    expect(running.statuses.map(({ state }) => state)).toContain('syncing');
    expect(await running.stop()).toMatchObject({ hash: best });
  });

  test('requests a handful of headers for a block, and reads no block twice', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(best, 110);
    const running = start(node, database.pool, { bounds: { pollMs: 60_000 } });
    await running.until(displayHash(node.best.at(-1)!.hash));
    await node.whenAwaited();
    node.headersGiven = 0;
    node.setTip(best, 111);
    await running.until(displayHash(node.best.at(-1)!.hash));
    await running.stop();
    expect(node.headersGiven).toBeLessThanOrEqual(3);
    expect(node.reads).toBe(112);
  });

  test('lets searches go first in a load, but not before a block at the tip', async () => {
    const demand = new SearchDemand();
    const turn = vi.spyOn(demand, 'turn');
    const node = new SimulatedNode(golden);
    node.setTip(best, 105);
    const running = start(node, database.pool, { demand });
    await running.until(displayHash(node.best.at(-1)!.hash));
    await until(() => running.statuses.at(-1)?.state === 'following');
    const turns = turn.mock.calls.length;
    node.setTip(best);
    await running.until(best);
    await running.stop();
    // each of these blocks was parsed alone
    expect(turns).toBeGreaterThan(105);
    expect(turn.mock.calls.length).toBe(turns);
  });

  test('ends at the given height, also if the node reaches it later', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(best, 50);
    const running = start(node, database.pool, { until: asHeight(60) });
    await running.until(displayHash(node.best[50]!.hash));
    node.setTip(best, 70);
    expect(await running.end).toMatchObject({ height: 60, blocks: 61 });
  });
});

describe('the cost of a block at the tip', () => {
  test('is a few statements, whatever is already indexed', async () => {
    const transfers = new GoldenChain('transfers-1');
    const node = new SimulatedNode(transfers);
    const tips = transfers.chain.headers;
    let statements = 0;
    database.pool.on('connect', (client) => {
      const counted = client as unknown as { query: (...values: unknown[]) => unknown };
      const query = counted.query.bind(client);
      counted.query = (...values) => {
        statements++;
        return query(...values);
      };
    });
    node.setTip(transfers.chain.tip, 130);
    let committed = 0;
    const running = start(node, database.pool, {
      bounds: { pollMs: 60_000 },
      onCommit: ({ blocks }) => {
        committed += blocks;
      },
    });
    await until(() => committed >= 131);
    await node.whenAwaited();
    const counts: number[] = [];
    for (let height = 131; height < Math.min(tips.length, 150); height++) {
      const before = statements;
      node.setTip(transfers.chain.tip, height);
      await until(() => committed >= height + 1);
      // wait for the end of the plan that finds no more blocks
      await node.whenAwaited();
      counts.push(statements - before);
    }
    await running.stop();
    // two plans of two queries, one write of at most thirteen statements and a commit, three queries, and the status
    expect(Math.max(...counts)).toBeLessThanOrEqual(24);
  });
});

describe('the free space on the disk', () => {
  test('is compared with the need of the coming blocks', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(best, 120);
    const short: number[] = [];
    const options = { diskFolder: dir, onDiskShort: ({ neededBytes: bytes }: DiskNeed) => short.push(bytes) };
    await start(node, database.pool, { until: asHeight(110), ...options }).end;
    expect(short).toEqual([]);
    // pretend that blocks have 2 GB each, according to the tables
    await database.pool.query('UPDATE chain.blocks SET size_bytes = 2000000000');
    const need = await diskNeed(database.pool, {
      folder: dir,
      network: 'regtest',
      blocksToCome: 1_000_000,
      indexAddresses: false,
    });
    expect(need?.neededBytes).toBe(1_400_000_000_000_000 + 4_000_000_000);
    expect(need!.freeBytes).toBeLessThan(need!.neededBytes);
    expect(neededBytes(10, 1_000_000, true)).toBe(2 * 12_000_000);
  });
});

async function lastTip(pool: pg.Pool): Promise<Buffer | null> {
  const { rows } = await pool.query<{ tip_hash: Buffer | null }>('SELECT tip_hash FROM chain.state');
  return rows[0]?.tip_hash ?? null;
}

describe('a chain with less work', () => {
  test('is waited on, and followed once it has the work', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(best, 120);
    const running = start(node, database.pool);
    const tip = displayHash(node.best.at(-1)!.hash);
    await running.until(tip);
    node.setTip(best, 100);
    const problems: unknown[] = [];
    await until(() => running.statuses.at(-1)?.state === 'waiting');
    problems.push(running.statuses.at(-1)?.problem?.code);
    expect(problems).toEqual(['node_behind']);
    await running.until(tip);
    node.setTip(best, 121);
    await running.until(displayHash(node.best.at(-1)!.hash));
    await until(() => running.statuses.at(-1)?.state === 'following');
    await running.stop();
    expect(running.statuses.at(-1)?.state).toBe('ended');
    expect(await dumpChain(database.pool)).toEqual(await cleanDump(best, 121));
  });

  test('is followed at once if the node calls our tip invalid', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(best, 120);
    const running = start(node, database.pool);
    const tip = displayHash(node.best.at(-1)!.hash);
    await running.until(tip);
    node.invalid.add(tip);
    node.setTip(best, 80);
    await running.until(displayHash(node.best.at(-1)!.hash));
    await running.stop();
    expect(await dumpChain(database.pool)).toEqual(await cleanDump(best, 80));
  });
});

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await waitUntil(condition, { everyMs: 5 });
}

describe('a temporary failure', () => {
  test.each(['node_unreachable', 'node_warming_up', 'node_answer_invalid'] as const)(
    'is waited for: %s',
    async (code) => {
      const node = new SimulatedNode(golden);
      node.setTip(best, 60);
      const running = start(node, database.pool);
      await running.until(displayHash(node.best.at(-1)!.hash));
      node.failure = new AppError(code, 'it fails');
      node.wake();
      await until(() => running.statuses.at(-1)?.problem?.code === code);
      const stored = async (): Promise<object[]> => {
        const { rows } = await database.pool.query<object>(
          'SELECT state, problem_code FROM chain.follower_status',
        );
        return rows;
      };
      // the problem is reported before it is written
      await expect.poll(stored).toEqual([{ state: 'waiting', problem_code: code }]);
      node.failure = null;
      node.setTip(best, 61);
      await running.until(displayHash(node.best.at(-1)!.hash));
      await until(() => running.statuses.at(-1)?.problem === null);
      await running.stop();
      expect(await dumpChain(database.pool)).toEqual(await cleanDump(best, 61));
    },
  );

  test('is the loss of all connections to the database, at any moment', async () => {
    const node = new SimulatedNode(golden);
    const running = start(node, database.pool, { bounds: { blocksMax: 3 } });
    for (let cut = 0; cut < 4; cut++) {
      await sleep(80);
      await database.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`,
      );
    }
    await running.until(best);
    await running.stop();
    expect(await dumpChain(database.pool)).toEqual(await cleanDump(best));
  });

  test.each([
    ['53100', 'disk_full', 'could not extend file: No space left on device'],
    ['53200', 'postgres_exhausted', 'out of memory'],
    ['40P01', 'postgres_conflict', 'deadlock detected'],
  ] as const)(
    'is a server that lacks resources or is in the way, %s: the follower continues by itself',
    async (state, code, message) => {
      const { pool } = database;
      const node = new SimulatedNode(golden);
      node.setTip(best, 60);
      const running = start(node, pool);
      await running.until(displayHash(node.best.at(-1)!.hash));
      // this is the error of the server
      await pool.query(`CREATE FUNCTION public.refused() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${state}'; END $$`);
      await pool.query(
        'CREATE TRIGGER refused BEFORE INSERT ON chain.blocks FOR EACH ROW EXECUTE FUNCTION public.refused()',
      );
      node.setTip(best, 70);
      await until(() => running.statuses.at(-1)?.problem?.code === code);
      expect(displayHash((await lastTip(pool))!)).toBe(displayHash(node.best[60]!.hash));
      await pool.query('DROP TRIGGER refused ON chain.blocks');
      await running.until(displayHash(node.best.at(-1)!.hash));
      await running.stop();
      expect(await dumpChain(pool)).toEqual(await cleanDump(best, 70));
    },
  );

  test('is a server that takes no writes, or cancels a statement', async () => {
    const { pool, url } = database;
    const node = new SimulatedNode(golden);
    node.setTip(best, 60);
    const running = start(node, pool);
    await running.until(displayHash(node.best.at(-1)!.hash));
    const others =
      'FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()';
    const client = await connectClient(url);
    const alter = async (change: string): Promise<void> => {
      const { pathname } = new URL(url);
      await client.query(`ALTER DATABASE ${pathname.slice(1)} ${change}`);
      await client.query(`SELECT pg_terminate_backend(pid) ${others}`);
    };
    try {
      await alter('SET default_transaction_read_only = on');
      node.setTip(best, 65);
      await until(() => running.statuses.at(-1)?.problem?.code === 'postgres_read_only');
      await alter('RESET default_transaction_read_only');
      await until(() => running.statuses.at(-1)?.state === 'following');
      await running.until(displayHash(node.best.at(-1)!.hash));
      // a lock makes the writer's statement wait until it is cancelled
      await client.query('BEGIN; LOCK TABLE chain.outbox IN EXCLUSIVE MODE');
      node.setTip(best, 70);
      await until(async () => {
        await client.query(`SELECT pg_cancel_backend(pid) ${others} AND wait_event_type = 'Lock'`);
        return running.statuses.at(-1)?.problem?.code === 'postgres_timeout';
      });
      await client.query('COMMIT');
    } finally {
      await client.end();
    }
    await running.until(displayHash(node.best.at(-1)!.hash));
    await running.stop();
    expect(await dumpChain(pool)).toEqual(await cleanDump(best, 70));
  });

  test('is a block that left the chain while it was read', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(long);
    let isGone = false;
    node.onRead = ({ height, hash }) => {
      const isStale = node.best[height] === undefined || !Buffer.from(hash).equals(node.best[height].hash);
      if (height === 110 && !isGone) {
        isGone = true;
        node.setTip(best);
      }
      if (isGone && isStale) throw new AppError('block_unavailable', 'the block is gone');
    };
    const running = start(node, database.pool);
    await running.until(best);
    await running.stop();
    expect(await dumpChain(database.pool)).toEqual(await cleanDump(best));
  });
});

describe('a permanent failure', () => {
  test.each(['node_refused', 'node_pruned'] as const)('ends the follower: %s', async (code) => {
    const node = new SimulatedNode(golden);
    node.failure = new AppError(code, 'it fails');
    const running = start(node, database.pool);
    await expect(running.end).rejects.toMatchObject({ code });
    const { rows } = await database.pool.query('SELECT state, problem_code FROM chain.follower_status');
    expect(rows).toEqual([{ state: 'ended', problem_code: code }]);
  });

  test('is a block that stays wrong, however often it is read', async () => {
    const node = new SimulatedNode(golden);
    let tries = 0;
    node.onRead = ({ height }) => {
      if (height !== 30) return;
      tries++;
      throw new AppError('spent_outputs_mismatch', 'it does not fit');
    };
    await expect(start(node, database.pool).end).rejects.toMatchObject({ code: 'spent_outputs_mismatch' });
    expect(tries).toBe(6);
    expect(await dumpChain(database.pool)).toEqual(await cleanDump(best, 29));
  });

  test.each(['node_pruned', 'block_corrupt', 'node_refused'] as const)(
    'of a polled node is waited for until a person has fixed it: %s',
    async (code) => {
      const node = new SimulatedNode(golden);
      node.hasCookieFile = true;
      let tries = 0;
      let isMended = false;
      node.onRead = ({ height }) => {
        if (height !== 30 || isMended) return;
        tries++;
        throw new AppError(code, 'it does not fit');
      };
      const bounds = { mendedEveryMs: 30, pollMs: 50 };
      const running = start(node, database.pool, { waitsForPeople: true, bounds });
      await until(() => tries >= 8 && running.statuses.at(-1)?.problem?.code === code);
      isMended = true;
      await running.until(best);
      await running.stop();
      expect(await dumpChain(database.pool)).toEqual(await cleanDump(best));
    },
  );

  test('is another network, even if its chain has more work', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(best, 20);
    const running = start(node, database.pool);
    await running.until(displayHash(node.best.at(-1)!.hash));
    await running.stop();
    await database.pool.query(
      "UPDATE chain.blocks SET hash = decode(md5(height::text) || md5('x' || height), 'hex')",
    );
    await database.pool.query(
      'UPDATE chain.state SET tip_hash = (SELECT hash FROM chain.blocks WHERE height = 20)',
    );
    node.setTip(best);
    await expect(start(node, database.pool).end).rejects.toMatchObject({ code: 'network_mismatch' });
  });
});

describe('a second follower', () => {
  test('ends with database_busy, or stands by and takes over', async () => {
    const node = new SimulatedNode(golden);
    node.setTip(best, 60);
    const giveBack = await holdWriterLock(database.pool);
    await expect(start(node, database.pool).end).rejects.toMatchObject({ code: 'database_busy' });
    let waits = 0;
    const running = start(node, database.pool, { standby: true, onStandby: () => waits++ });
    await until(() => waits === 1);
    // nothing should happen, so there is no condition to wait for
    await sleep(50);
    expect((await database.pool.query('SELECT FROM chain.follower_status')).rowCount).toBe(0);
    expect(await lastTip(database.pool)).toBeNull();
    giveBack();
    await running.until(displayHash(node.best.at(-1)!.hash));
    await running.stop();
  });
});

describe('a walk from tip to tip', () => {
  test('leaves the rows of a clean index, wherever it goes', async () => {
    const heights = fc.integer({ min: 60, max: golden.chain.headers.length - 1 });
    const steps = fc.array(fc.record({ tip: fc.constantFrom(best, short, long), height: heights }), {
      minLength: 2,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (walk) => {
        const { pool } = await freshDatabase();
        const node = new SimulatedNode(golden);
        const running = start(node, pool, { bounds: { cacheEntries: 8 } });
        for (const { tip, height } of walk) {
          node.setTip(tip, height);
          const last = await lastTip(pool);
          if (last !== null) node.invalid.add(displayHash(last));
          const target = displayHash(node.best.at(-1)!.hash);
          node.invalid.delete(target);
          node.wake();
          await running.until(target);
        }
        await running.stop();
        const { tip, height } = walk.at(-1)!;
        expect(await dumpChain(pool)).toEqual(await cleanDump(tip, height));
      }),
      propertyBounds(2),
    );
  });
});
