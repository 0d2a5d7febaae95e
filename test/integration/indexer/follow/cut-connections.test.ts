import { expect, test } from 'vitest';
import { createPool } from '#kernel/pg/pool.ts';
import { seededRandom } from '#test/builders/random.ts';
import { comparisonWith } from '#test/support/chain/chain-dump.ts';
import { GoldenChain } from '#test/support/chain/golden/golden-chain.ts';
import { indexFolder, indexTests } from '#test/support/chain/index-tests.ts';
import { CuttingProxy } from '#test/support/postgres/cutting-proxy.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const { freshDatabase, folderOf } = indexTests();
/** Maximum number of cuts. Each cut takes as long as the pause before the next try. */
const cutsMax = 8;
const seeds = Array.from({ length: propertyRuns(1) }, (_, at) => `cuts ${at + 1}`);

test.each(seeds)(
  'a load whose connections are cut at any byte has the rows of an undisturbed one: %s',
  async (seed) => {
    const dir = folderOf(new GoldenChain('mixed-2'));
    const clean = await freshDatabase();
    await indexFolder(clean.pool, dir, { indexAddresses: true, indexSats: true });
    const differences = await comparisonWith(clean.pool);
    const { pool, url } = await freshDatabase();
    const proxy = await CuttingProxy.listen(new URL(url), seededRandom(seed), cutsMax);
    const cutPool = createPool(proxy.url);
    await indexFolder(cutPool, dir, {
      indexAddresses: true,
      indexSats: true,
      bounds: { load: { blocksMin: 1, blocksMax: 2 } },
    });
    await cutPool.end();
    proxy.close();
    expect(proxy.cuts).toBeGreaterThan(cutsMax / 2);
    expect(await differences(pool)).toEqual([]);
  },
);
