import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MempoolStatus, writeProblem, writeState } from '#indexer/mempool/store/pending.store.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { createLifecycle, type Lifecycle } from '#kernel/process/lifecycle.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { announceWaiting } from '#src/app/reports/announce.ts';
import type { NodeLink } from '#src/app/sources/node.ts';
import { holdWriterLock } from '#test/support/chain/chain-dump.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { waitUntil } from '#test/support/wait-until.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const statusOf = (since: Date): MempoolStatus => ({
  source: 'zmq',
  reveals: 'untested',
  transactions: 7,
  kept: 0,
  leftOut: 0,
  keptBytes: 0,
  since,
});

test('a mempool follower that has lost its place does not overwrite the report of its successor', async () => {
  const { pool } = database;
  const row = async (): Promise<unknown> =>
    (await pool.query('SELECT state, problem, revision FROM chain.mempool_state')).rows[0];
  const first = new Date('2026-01-01T00:00:00.001Z');
  const second = new Date('2026-01-01T00:00:00.002Z');
  for (const since of [first, second]) {
    await withTransaction(pool, (tx) => writeState(tx, statusOf(since), { isFirst: true, isChanged: true }));
  }
  const before = await row();
  expect(before).toMatchObject({ state: 'following' });
  await writeProblem(pool, 'zmq', 'ended', null, first);
  await writeProblem(pool, 'zmq', 'waiting', 'the node is away', first);
  expect(await row()).toEqual(before);
  await writeProblem(pool, 'zmq', 'waiting', 'the node is away', second);
  expect(await row()).toMatchObject({ state: 'waiting', problem: 'the node is away' });
  // no process follows, so the next process may report a reason
  await writeProblem(pool, 'zmq', 'ended', null, first);
  expect(await row()).toMatchObject({ state: 'ended', problem: null });
  // a process that is silent for a minute does not count either
  await withTransaction(pool, (tx) => writeState(tx, statusOf(second), { isFirst: true, isChanged: true }));
  await pool.query("UPDATE chain.mempool_state SET updated_at = now() - interval '61 seconds'");
  await writeProblem(pool, 'zmq', 'waiting', 'the node is away', first);
  expect(await row()).toMatchObject({ state: 'waiting' });
});

test('a process that waits for its node says so, never holds the writer’s lock, and is silent if another has it', async () => {
  const { pool } = database;
  const lifecycle = createLifecycle();
  let pauses = 0;
  const hurried: Lifecycle = {
    ...lifecycle,
    pause: () => {
      pauses++;
      return lifecycle.pause(20);
    },
  };
  const connected = Promise.withResolvers<never>();
  connected.promise.catch(() => undefined);
  const link = {
    url: 'http://127.0.0.1:1',
    connected: connected.promise,
    problem: () => new AppError('node_unreachable', 'the node does not answer'),
    problemSince: () => new Date(),
  } as unknown as NodeLink;
  const giveBack = await holdWriterLock(pool);
  const context = { lifecycle: hurried, logger: silentLogger() } as unknown as CommandContext;
  const announcing = announceWaiting(context, pool, link);
  announcing.catch(() => undefined);
  const said = async (): Promise<unknown[]> =>
    (await pool.query<object>('SELECT state, problem_code FROM chain.follower_status')).rows;
  // the follower pauses again after its check
  await waitUntil(() => pauses > 3);
  expect(await said()).toEqual([]);
  giveBack();
  // the lock is taken and released without a pause, and the follower must never find it taken
  const client = await pool.connect();
  await waitUntil(async () => {
    for (let time = 0; time < 3; time++) {
      await takeAdvisoryLock(client, 'writer');
      await client.query('SELECT pg_advisory_unlock_all()');
    }
    return (await said()).length > 0;
  });
  client.release();
  expect(await said()).toEqual([{ state: 'waiting', problem_code: 'node_unreachable' }]);
  connected.reject(new AppError('node_refused', 'it refuses'));
  await expect(announcing).rejects.toMatchObject({ code: 'node_refused' });
  await lifecycle.stop('done');
});
