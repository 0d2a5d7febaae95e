import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { catchUpFailpoints } from '#kernel/process/failpoint.ts';
import type { CatchUpTask } from '#test/support/chain/derived/catch-up-process.ts';
import { readHashes } from '#test/support/chain/events/event-rows.ts';
import type { TestDatabase } from '#test/support/database.ts';
import { propertyBounds } from '#test/support/property-runs.ts';
import { ageSales, type Branch, bestHeight, SoldChain } from '#test/support/sales/sold-chain.ts';

const processFile = fileURLToPath(new URL('../support/chain/derived/catch-up-process.ts', import.meta.url));
const chain = new SoldChain('reclassify killed');

interface State {
  readonly is_remade: boolean;
  readonly tip_height: number | null;
}

async function stateOf({ pool }: TestDatabase): Promise<State> {
  const { rows } = await pool.query<State>(
    `SELECT is_remade, tip_height FROM chain.derived_tables WHERE name = 'sales'`,
  );
  return rows[0]!;
}

test('a process that reclassifies sales and is killed at every step ends with those of a fresh index', async () => {
  const database = await chain.indexed();
  await ageSales(database);
  // the writer's next session starts to reclassify
  await chain.index(database);
  const run = async (failpoint: CatchUpTask['failpoint']): Promise<unknown> => {
    const task: CatchUpTask = { url: database.url, dir: chain.dirs.best, tables: 'program', failpoint };
    const child = fork(processFile, [JSON.stringify(task)], { stdio: 'inherit' });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return signal ?? code;
  };
  let reached = 0;
  for (const [point, passes] of [
    ['catch-up', 2],
    ['catch-up-committed', 2],
    ['catch-up', 2],
    ['catch-up-committed', 1],
    ['hand-over', 1],
    ['handed-over', 1],
  ] as const) {
    expect(catchUpFailpoints).toContain(point);
    expect(await run([point, passes])).toBe('SIGKILL');
    const { is_remade: isRemade, tip_height: tip } = await stateOf(database);
    expect(isRemade).toBe(point !== 'handed-over');
    if (!isRemade) continue;
    expect(tip).toBeGreaterThan(reached - 1);
    reached = tip!;
    // rows and hashes reach the tip, and no further
    expect([...(await readHashes(database.pool, storedSaleKind)).keys()].at(-1)).toBe(tip);
    const { rows } = await database.pool.query<{ rules: number; least: number; most: number }>(
      'SELECT rules, min(height) AS least, max(height) AS most FROM chain.sales GROUP BY rules',
    );
    for (const { rules, least, most } of rows) {
      if (rules === 1) expect(least).toBeGreaterThan(tip!);
      else expect(most).toBeLessThanOrEqual(tip!);
    }
  }
  expect(await run(null)).toBe(0);
  await chain.expectClean(database);
  expect(await chain.verified(database)).toEqual([]);
}, 180_000);

test('the sales are those of a fresh index, whatever happens to chain and rules meanwhile', async () => {
  const branch = fc.constantFrom<Branch>('best', 'stale');
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('follow' as const),
      at: branch,
      until: fc.integer({ min: 90, max: bestHeight }),
    }),
    fc.record({ kind: fc.constant('undo' as const), height: fc.integer({ min: 60, max: bestHeight }) }),
    fc.record({ kind: fc.constant('age' as const) }),
    fc.record({ kind: fc.constant('by hand' as const) }),
    fc.record({ kind: fc.constant('pass' as const), height: fc.integer({ min: 1, max: bestHeight }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const database = await chain.indexed({ until: bestHeight - 6 });
      await ageSales(database);
      let at: Branch = 'best';
      for (const one of steps) {
        if (one.kind === 'follow') {
          at = one.at;
          await chain.index(database, one);
        } else if (one.kind === 'undo') await chain.undo(database, asHeight(one.height));
        else if (one.kind === 'age') await ageSales(database);
        else if (one.kind === 'by hand') await chain.remake(database);
        else {
          // the pass reads blocks of the indexed branch
          await chain.index(database, { at });
          await chain.passTo(database, one.height, at);
        }
      }
      await chain.index(database);
      await chain.pass(database, 'best');
      await chain.index(database);
      await chain.expectClean(database);
      await chain.removeDatabases();
    }),
    propertyBounds(3),
  );
}, 300_000);
