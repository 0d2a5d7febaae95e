import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createElasticClient } from '#search/elastic/server/elastic-client.ts';
import { readMarker } from '#search/elastic/server/marker.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  createElasticFaults,
  type ElasticFaults,
  type Fault,
} from '#test/support/elasticsearch/elastic-faults.ts';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { sharedElasticsearch } from '#test/support/elasticsearch/shared-elasticsearch.ts';
import { createSyncedIndex, type SyncedIndex } from '#test/support/elasticsearch/synced-index.ts';
import { propertyBounds } from '#test/support/property-runs.ts';
import {
  createSearchRows,
  type SearchRows,
  type TestInscription,
  text,
} from '#test/support/search/search-rows.ts';

const noHook = (): Promise<void> => Promise.resolve();

/** Makes only a few different texts, so that documents contain copies from several blocks. */
const inscriptionOf = (seed: number): TestInscription => ({
  content: seed % 7 === 0 ? null : text(`text ${seed % 5} ${seed % 11 === 0 ? `of its own ${seed}` : ''}`),
  metadata: seed % 3 === 0 ? `{"trait":"${seed % 4}"}` : null,
});

type Move =
  | { readonly kind: 'apply'; readonly count: number; readonly seed: number }
  | { readonly kind: 'undo'; readonly depth: number }
  | {
      readonly kind: 'sync';
      readonly keysMax: number;
      /** The number of the request that is cut off; `null` if the process runs to its end. */
      readonly cutAt: number | null;
      readonly fault: Fault['kind'] & ('cut' | 'lost');
    };

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('apply' as const), count: fc.nat({ max: 12 }), seed: fc.nat() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('undo' as const), depth: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('sync' as const),
      keysMax: fc.constantFrom(1, 15, 1000),
      cutAt: fc.option(fc.nat({ max: 25 }), { freq: 4 }),
      fault: fc.constantFrom('cut' as const, 'lost' as const),
    }),
  },
);

describe.runIf(hasElasticsearch())('the sync of a search index', () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let faults: ElasticFaults;
  let url: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    url = await sharedElasticsearch();
    faults = await createElasticFaults(url);
  });
  afterAll(async () => {
    await faults?.close();
    await database?.drop();
  });

  const withIndex = async (work: (index: SyncedIndex) => Promise<void>): Promise<void> => {
    const index = createSyncedIndex(database.pool, database.url, rows, url);
    try {
      await work(index);
    } finally {
      faults.decide = () => null;
      await index.close();
    }
  };

  const apply = (count: number, seed = 0): Promise<number> =>
    rows.addBlock(Array.from({ length: count }, (_, at) => inscriptionOf(seed + at)));

  test('loses nothing and has nothing twice, whatever is cut off, taken back and applied again', async () => {
    let cuts = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 6, maxLength: 25 }), async (moves) => {
        await rows.clear();
        await apply(10);
        await withIndex(async (index) => {
          const through = createElasticClient({ url: faults.url });
          for (const one of moves) {
            if (one.kind === 'apply') await apply(one.count, one.seed);
            else if (one.kind === 'undo') await rows.undoAbove(Math.max(-1, rows.height - one.depth), noHook);
            else {
              const begun = faults.count;
              const { cutAt, fault } = one;
              // a process that dies sends no other request
              faults.decide = ({ index: at }) => {
                if (cutAt === null || at - begun < cutAt) return null;
                return at - begun === cutAt ? { kind: fault } : { kind: 'cut' };
              };
              const isWhole = await index.catchUp(through, one.keysMax).then(
                () => true,
                () => false,
              );
              faults.decide = () => null;
              if (!isWhole) cuts++;
              else await index.expectWhole();
            }
          }
          await index.catchUp(through, 1000);
          await index.expectWhole();
          await through.close();
        });
      }),
      propertyBounds(4),
    );
    expect(cuts).toBeGreaterThan(0);
  });

  test('goes back into a step to its start, and readers are refused or get an earlier block meanwhile', async () => {
    await rows.clear();
    for (let height = 0; height < 20; height++) await apply(5, height);
    await withIndex(async (index) => {
      await index.catchUp(index.elastic, 1000);
      await rows.undoAbove(4, noHook);
      await apply(3, 100);
      await index.catchUp(index.elastic, 1000);
      await index.expectWhole();
      const { marker } = (await readMarker(index.elastic, await index.served()))!;
      expect(marker.rewinds).toBeGreaterThan(1);
    });
  });
});
