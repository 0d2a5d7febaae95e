import fc from 'fast-check';
import { test } from 'vitest';
import { undoAbove } from '#indexer/apply/undo.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { CatchUpTests } from '#test/support/chain/derived/catch-up-tests.ts';
import { testDerivedTables } from '#test/support/chain/derived/test-derived-tables.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

const chains = new CatchUpTests();
const { best, stale } = chains;

test('the rows are those of a clean index, whatever happens to chain and pass meanwhile', async () => {
  const tips = [best, stale.tip];
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('follow' as const),
      tip: fc.nat(1),
      until: fc.integer({ min: 90, max: 260 }),
    }),
    fc.record({ kind: fc.constant('undo' as const), height: fc.integer({ min: 60, max: 200 }) }),
    // after this number of batches, the connections of the pass are cut in the middle of its work
    fc.record({
      kind: fc.constant('pass' as const),
      batches: fc.integer({ min: 1, max: 30 }),
      blocks: fc.integer({ min: 1, max: 40 }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 9 }), async (steps) => {
      const database = await chains.indexedBefore({ until: asHeight(150) });
      let at = best;
      for (const one of steps) {
        if (one.kind === 'follow') {
          at = tips[one.tip]!;
          await chains.index(database, { at, until: asHeight(one.until) });
        } else if (one.kind === 'undo') {
          const client = await database.pool.connect();
          await undoAbove(client, asHeight(one.height), [], { tables: testDerivedTables });
          client.release();
        } else {
          await chains.index(database, { at, until: genesisHeight });
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
          await chains.makeTables(database, at, {
            signal: stop.signal,
            bounds: { blocksMax: one.blocks, lookMs: 5 },
            onProgress: cut,
          });
        }
      }
      at = best;
      await chains.index(database, { at });
      await chains.makeTables(database, at);
      await chains.expectClean(database, { at });
      await chains.removeDatabases();
    }),
    propertyBounds(2),
  );
}, 300_000);
