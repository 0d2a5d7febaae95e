import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { catchUpFailpoints } from '#kernel/process/failpoint.ts';
import type { CatchUpTask } from '#test/support/chain/derived/catch-up-process.ts';
import { CatchUpTests } from '#test/support/chain/derived/catch-up-tests.ts';
import { lastPaymentHash, statesOf } from '#test/support/chain/derived/derived-states.ts';
import { paymentsFrom } from '#test/support/chain/derived/payments-table.ts';

const processFile = fileURLToPath(new URL('../support/chain/derived/catch-up-process.ts', import.meta.url));
type CatchUpFailpoint = (typeof catchUpFailpoints)[number];
const chains = new CatchUpTests();
const { best } = chains;

describe('a derived table that is added to an index', () => {
  test('is filled by a process that is killed at every step, as if it had existed from the start', async () => {
    const database = await chains.indexedBefore();
    const run = async (failpoint: CatchUpTask['failpoint']): Promise<unknown> => {
      const task: CatchUpTask = { url: database.url, dir: chains.dir, tip: best, failpoint };
      const child = fork(processFile, [JSON.stringify(task)], { stdio: 'inherit' });
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      return signal ?? code;
    };
    // The table that is filled from other tables comes first, then another table. Kills come within the blocks of one
    // table, and within those of two tables.
    for (const [table, batches] of [
      ['properties', 4],
      ['test_stays', 6],
    ] as const) {
      const kills: [CatchUpFailpoint, number][] = [
        ['catch-up', 2],
        ['catch-up-committed', 2],
        ['catch-up', batches],
        ['catch-up-committed', 1],
        ['hand-over', 1],
        ['handed-over', 1],
      ];
      expect([...new Set(kills.map(([point]) => point))]).toEqual(catchUpFailpoints);
      let reached = -1;
      for (const [point, passes] of kills) {
        expect(await run([point, passes])).toBe('SIGKILL');
        const { [table]: state, test_payments: paid } = await statesOf(database);
        if (point === 'handed-over') expect(state?.is_followed).toBe(true);
        else expect(state?.tip_height).toBeGreaterThan(reached);
        reached = state?.tip_height ?? reached;
        // hashes of events reach exactly as far as the rows
        if (paid?.is_followed === false) expect(await lastPaymentHash(database)).toBe(paid.tip_height);
      }
    }
    expect(await run(null)).toBe(0);
    const states = await statesOf(database);
    expect(states['test_stays']?.is_followed).toBe(true);
    expect(states['test_payments']?.is_followed).toBe(true);
    await chains.expectClean(database);
    expect(await chains.verified(database)).toEqual([]);
  }, 360_000);

  test('is kept by a writer that is killed within a batch and after it', async () => {
    const database = await chains.freshDatabase();
    for (const failpoint of [['transaction', 8] as const, ['committed', 1] as const]) {
      const task: CatchUpTask = { url: database.url, dir: chains.dir, tip: best, failpoint };
      const child = fork(processFile, [JSON.stringify(task)], { stdio: 'inherit' });
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    }
    const { rows } = await database.pool.query<{ height: number }>(
      'SELECT tip_height AS height FROM chain.state',
    );
    expect(rows[0]?.height).toBeGreaterThan(paymentsFrom);
    await chains.index(database);
    await chains.expectClean(database);
  }, 180_000);
});
