import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Failpoint } from '#kernel/process/failpoint.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { waitUntil } from '#test/support/wait-until.ts';
import { testWallet } from '#test/support/wallet/plans.ts';
import type { ReleaseProcessOptions } from '#test/support/wallet/release-process.ts';
import { takeIndices } from '#test/support/wallet/take-indices.ts';
import { endsAt } from '#wallet/indices/branch-ends.ts';
import { IndexLeases, type TakenIndices } from '#wallet/indices/index-leases.ts';
import { readMark, writeMark } from '#wallet/indices/mark-file.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { followReleases, releaseIndices } from '#wallet/indices/release-indices.ts';
import { skipIndices } from '#wallet/indices/skip-indices.ts';
import { putWallet } from '#wallet/wallet.store.ts';

const { identity: owner } = testWallet('regtest').wallet;
let database: TestDatabase;
let folder: string;
let markFile: string;
let ends: (() => Promise<void>)[];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'satscribe-release-'));
  markFile = join(folder, 'wallet.seed.mark');
  ends = [];
  await database.pool.query('TRUNCATE service.wallet, service.wallet_branches');
  await putWallet(database.pool, owner, endsAt(0));
});
afterEach(async () => {
  for (const end of ends) await end();
  await rm(folder, { recursive: true, force: true });
});

/** Releases indices like the process with the seed. `problems` are codes; `null` means that releasing works again. */
async function release(
  file = markFile,
): Promise<{ problems: (string | null)[]; logged: string[]; end: () => Promise<void> }> {
  const controller = new AbortController();
  const problems: (string | null)[] = [];
  const logged: string[] = [];
  const { tried, ended } = releaseIndices({
    url: database.url,
    markFile: file,
    owner,
    signal: controller.signal,
    log: pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }),
    onProblem: (problem) => void problems.push(problem?.code ?? null),
  });
  await tried;
  const end = async (): Promise<void> => {
    controller.abort();
    await ended;
  };
  ends.push(end);
  return { problems, logged, end };
}

/** Releases indices in a separate process, which may kill itself between two steps. */
function releaseElsewhere(killedAt: [Failpoint, number] | null): ChildProcess {
  const options: ReleaseProcessOptions = { url: database.url, markFile, owner, killedAt };
  const script = new URL('../../../support/wallet/release-process.ts', import.meta.url).pathname;
  return spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
}

const isUnreleased = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'wallet_indices_unreleased';

/** Takes indices like creations of an `api` process, `count` times or until `isOver`. Notes each index. */
async function take(
  count: number,
  taken: number[],
  { lanes = 4, orders = 1, isOver = (): boolean => false } = {},
): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (left > 0 && !isOver()) {
        left--;
        try {
          const first = await withTransaction(database.accessPool, (tx) =>
            takeIndices(tx, { orders, own: 1 }),
          );
          for (let index = 0; index < orders; index++) taken.push(first.orders + index);
        } catch (error) {
          if (!isUnreleased(error)) throw error;
          left++;
          await sleep(20);
        }
      }
    }),
  );
}

const takeOne = (): Promise<unknown> =>
  withTransaction(database.accessPool, (tx) => takeIndices(tx, { orders: 1, own: 1 }));

const confirmed = (leases: IndexLeases, taken: TakenIndices): Promise<boolean> =>
  withTransaction(database.accessPool, (tx) => leases.confirm(tx, taken));

/** Takes an index like the creation of an order. Retries until an index is released and its release is valid. */
async function takenAgain(leases: IndexLeases): Promise<TakenIndices> {
  for (;;) {
    try {
      const taken = await leases.take({ orders: 1 });
      if (await confirmed(leases, taken)) return taken;
    } catch (error) {
      if (!isUnreleased(error)) throw error;
      await sleep(20);
    }
  }
}

async function expectFresh(taken: readonly number[]): Promise<void> {
  expect(new Set(taken).size).toBe(taken.length);
  const mark = await readMark(markFile, owner);
  expect(Math.max(...taken)).toBeLessThan(mark!.orders);
}

const walletTables = ['service.wallet', 'service.wallet_branches'];

/** Copies the rows of the wallet. Returns a function that restores them while everything else runs. */
async function dump(): Promise<() => Promise<void>> {
  const dumped = await Promise.all(
    walletTables.map(async (table) => {
      const { rows } = await database.pool.query<{ row: object }>(
        `SELECT to_jsonb(w) AS row FROM ${table} AS w`,
      );
      return { table, rows: rows.map(({ row }) => row) };
    }),
  );
  return async () => {
    const client = await connectClient(database.superuserUrl);
    try {
      // like pg_dump --data-only --disable-triggers
      await client.query(`SET session_replication_role = 'replica'`);
      await client.query('BEGIN');
      await client.query('TRUNCATE service.wallet, service.wallet_branches');
      for (const { table, rows } of dumped)
        await client.query(`INSERT INTO ${table} SELECT (jsonb_populate_recordset(NULL::${table}, $1)).*`, [
          JSON.stringify(rows),
        ]);
      await client.query('COMMIT');
    } finally {
      await client.end();
    }
  };
}

describe('indices of the wallet', () => {
  test('are released only by the process with the seed, with a mark first', async () => {
    const taken: number[] = [];
    await expect(takeOne()).rejects.toMatchObject({
      code: 'wallet_indices_unreleased',
    });
    const { problems, end } = await release();
    expect(problems).toEqual([null]);
    await take(5, taken);
    expect(taken.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
    expect(await readMark(markFile, owner)).toEqual(endsAt(1000));
    await end();
    await expect(takeOne()).rejects.toMatchObject({
      code: 'wallet_indices_unreleased',
    });
  });

  test('are released ahead of processes that take many', async () => {
    const taken: number[] = [];
    await release();
    await take(20, taken, { lanes: 8, orders: 101 });
    expect(taken).toHaveLength(2020);
    await expectFresh(taken);
  });

  test('are never shown again after a restore of an older database', async () => {
    const taken: number[] = [];
    const first = await release();
    await take(3, taken);
    const restore = await dump();
    await take(7, taken);
    await first.end();
    await restore();
    await release();
    await take(5, taken);
    expect(Math.min(...taken.slice(-5))).toBe(1000);
    await expectFresh(taken);
  });

  test('nor if it is restored while the process with the seed runs', async () => {
    const taken: number[] = [];
    await release();
    await take(3, taken);
    const restore = await dump();
    await take(7, taken);
    await restore();
    await expect(takeOne()).rejects.toMatchObject({
      code: 'wallet_indices_unreleased',
    });
    await take(5, taken);
    await expectFresh(taken);
  });

  test('nor in an empty database with the seed', async () => {
    const taken: number[] = [];
    const first = await release();
    await take(3, taken);
    await first.end();
    await database.pool.query('TRUNCATE service.wallet, service.wallet_branches');
    await putWallet(database.pool, owner, endsAt(0));
    await release();
    await take(3, taken);
    expect(taken.slice(-3).toSorted((a, b) => a - b)).toEqual([1000, 1001, 1002]);
  });

  test('are released beyond a database that is ahead of the mark', async () => {
    const taken: number[] = [];
    const first = await release();
    await take(3, taken);
    await first.end();
    await writeMark(markFile, owner, { orders: 5, own: 1, fees: 2 });
    await release();
    await take(1, taken);
    expect(taken.at(-1)).toBe(1000);
    expect(await readMark(markFile, owner)).toEqual(endsAt(2000));
  });

  test('of a database of an earlier version continue where they were, with a new mark', async () => {
    const taken: number[] = [];
    await database.pool.query(
      `UPDATE service.wallet_branches SET next_index = ends, released_end = ends
         FROM (VALUES ('orders', 70), ('own', 40)) AS older (branch, ends) WHERE name = branch`,
    );
    await release();
    await take(1, taken);
    expect(taken).toEqual([70]);
    expect(await readMark(markFile, owner)).toEqual({ orders: 1070, own: 1040, fees: 1000 });
  });

  test('are not released without the mark, until a person skips far enough', async () => {
    const taken: number[] = [];
    const first = await release();
    await take(3, taken);
    await first.end();
    await rm(markFile);
    const { problems, logged } = await release();
    expect(problems).toEqual(['wallet_mark_missing']);
    expect(logged.join('')).toMatch(/if it is lost, run satscribe wallet skip/u);
    await expect(takeOne()).rejects.toThrow(/releases no addresses \(wallet_mark_missing\)/u);
    const from = await skipIndices(database.pool, {
      markFile,
      owner,
      by: 1_000_000,
      atLeast: endsAt(0),
    });
    expect(from).toEqual(endsAt(1_001_000));
    await release();
    await take(1, taken);
    expect(taken.at(-1)).toBe(1_001_000);
  });

  test('are handed out while the mark cannot be raised, as far as they are released', async () => {
    const taken: number[] = [];
    const { problems, logged } = await release();
    await chmod(markFile, 0o666);
    await take(600, taken);
    await waitUntil(() => problems.includes('wallet_mark_refused'));
    await take(100, taken);
    expect(Math.max(...taken)).toBe(699);
    await chmod(markFile, 0o600);
    expect(logged.filter((line) => line.includes('no more addresses are released'))).toHaveLength(1);
    await waitUntil(() => problems.at(-1) === null);
    expect(logged.at(-1)).toContain('addresses are released again, and orders are accepted');
    await take(400, taken);
    await expectFresh(taken);
  });

  test('are moved on while the process with the seed runs', async () => {
    const taken: number[] = [];
    await release();
    await take(2, taken);
    await skipIndices(database.pool, {
      markFile,
      owner,
      by: 50_000,
      atLeast: { orders: 60_000, own: 0, fees: 0 },
    });
    await take(2, taken);
    expect(Math.min(...taken.slice(2))).toBe(110_000);
    await expectFresh(taken);
  });

  test('are not handed out from memory once a person skipped them', async () => {
    await release();
    const leases = new IndexLeases(database.accessPool);
    expect((await leases.take({ orders: 1, own: 1 })).first).toMatchObject({ orders: 0, own: 0 });
    const early = await leases.take({ orders: 1 });
    await skipIndices(database.pool, { markFile, owner, by: 50_000, atLeast: endsAt(0) });
    await expect(confirmed(leases, early)).resolves.toBe(false);
    const later = await takenAgain(leases);
    expect(later.first.orders).toBeGreaterThanOrEqual(50_000);
    // the same happens if `wallet init` takes the newest mark into an existing database
    const beforeInit = await leases.take({ orders: 1 });
    await putWallet(database.pool, owner, endsAt(200_000));
    await expect(confirmed(leases, beforeInit)).resolves.toBe(false);
    expect((await takenAgain(leases)).first.orders).toBeGreaterThanOrEqual(200_000);
  });

  test('have a mark at a standby process, which takes over', async () => {
    const taken: number[] = [];
    const first = await release();
    await take(3, taken);
    const other = join(folder, 'standby.mark');
    const controller = new AbortController();
    const following = followReleases(database.readers, { markFile: other, owner, signal: controller.signal });
    await waitUntil(async () => (await readMark(other, owner))?.orders === 1000);
    controller.abort();
    await following;
    await first.end();
    await release(other);
    await take(1, taken);
    expect(taken.at(-1)).toBe(1000);
  });

  test('are shown once, whatever the number of processes that take and release them', {
    tags: ['proof'],
  }, async () => {
    const taken: number[] = [];
    let isTaking = true;
    const taking = take(1500, taken, { lanes: 8 }).finally(() => {
      isTaking = false;
    });
    // processes with the seed come and go, and for a moment there are two
    while (isTaking) {
      const one = await release();
      await sleep(150);
      const other = await release();
      await one.end();
      await sleep(150);
      await other.end();
    }
    await taking;
    await expectFresh(taken);
  });

  test('are shown once by processes that lease them, while the wallet is restored and they come and go', {
    tags: ['proof'],
  }, async () => {
    const taken: number[] = [];
    let isTaking = true;
    // Three processes run at a time. Each ends after some orders, and loses the indices that it has in memory.
    const lane = async (): Promise<void> => {
      while (isTaking) {
        const leases = new IndexLeases(database.accessPool);
        for (let order = 0; order < 30 && isTaking; order++) {
          try {
            const own = await leases.take({ orders: 2, own: 1 });
            await withTransaction(database.accessPool, async (tx) => {
              if (!(await leases.confirm(tx, own))) return;
              await sleep(5);
              taken.push(own.first.orders, own.first.orders + 1);
            });
          } catch (error) {
            if (!isUnreleased(error)) throw error;
            await sleep(20);
          }
        }
      }
    };
    const lanes = Array.from({ length: 3 }, lane);
    for (let round = 0; round < 3; round++) {
      const process = await release();
      await sleep(150);
      const restore = await dump();
      await sleep(150);
      await restore();
      await waitUntil(async () => (await readRelease(database.pool))?.isLive === true);
      await sleep(100);
      await process.end();
      if (round === 1) await restore();
    }
    isTaking = false;
    await Promise.all(lanes);
    expect(taken.length).toBeGreaterThan(100);
    await expectFresh(taken);
  });

  test.each<[Failpoint, number]>([
    ['mark-raised', 1],
    ['indices-released', 1],
    ['mark-raised', 2],
    ['indices-released', 2],
  ])(
    'are shown once if the process is killed at %s, the %s. time',
    { tags: ['proof'] },
    async (name, passes) => {
      const taken: number[] = [];
      const before = await release();
      await take(3, taken);
      const restore = await dump();
      await before.end();
      const process = releaseElsewhere([name, passes]);
      const ended = once(process, 'exit');
      // the second release comes when half of the first one is used
      if (passes === 2) await take(5000, taken, { isOver: () => process.signalCode !== null });
      expect((await ended)[1]).toBe('SIGKILL');
      await waitUntil(async () => (await readRelease(database.pool))?.isLive === false);
      const mark = await readMark(markFile, owner);
      expect(Math.max(...taken)).toBeLessThan(mark!.orders);
      const last = releaseElsewhere(null);
      ends.push(async () => {
        last.kill('SIGKILL');
        if (last.exitCode === null && last.signalCode === null) await once(last, 'exit');
      });
      await take(3, taken);
      expect(Math.min(...taken.slice(-3))).toBe(mark!.orders);
      await restore();
      await take(3, taken);
      await expectFresh(taken);
    },
  );
});
