import type { EngineTuning } from '#search/postgres/engine-tuning.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSealer, type SealerBounds } from '#search/seal/sealer.ts';
import { forgetAbove } from '#search/segments/forget-segments.ts';
import { describeSearchEngine } from '#test/support/search/search-engine-conformance.ts';

function describePostgres(name: string, bounds: Partial<SealerBounds>, tuning: Partial<EngineTuning>): void {
  describeSearchEngine(name, (pool) => {
    const engine = createPostgresEngine(tuning);
    const sealer = createSealer({ pool, bounds });
    return {
      engine,
      takeUp: async () => {
        await sealer.sealPending(new AbortController().signal);
      },
      forget: forgetAbove,
      close: async () => {
        await sealer.close();
        await engine.close();
      },
    };
  });
}

// many windows; almost every segment is made together with other segments, and has passages
describePostgres(
  'the Postgres engine with small windows',
  { windowIds: 16, windowKeys: 24, frequentMin: 2 },
  { passagesAbove: 0 },
);
// segments are cut by their bytes, the cache keeps almost nothing, and the index on inscriptions is never used
describePostgres(
  'the Postgres engine with small segments, no cache and columns',
  { windowIds: 64, windowKeys: 64, segmentTextBytesMax: 60 },
  { cacheBytesMax: 1, indexedMin: 0 },
);
// windows have their usual size, every gram is looked up in two steps, the cache drops entries all the time, and
// passages narrow what grams left
describePostgres(
  'the Postgres engine with large windows and small steps',
  { frequentMin: 2 },
  {
    cacheBytesMax: 5000,
    firstGrams: 1,
    enoughCandidates: 0,
    passagesAbove: 0,
    scanAdvantage: 1000,
    indexedMin: 1,
  },
);
