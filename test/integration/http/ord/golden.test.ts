import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden-chain.ts';
import { differences, indexQuestions } from '#test/support/chain/ord-golden.ts';
import { buildCheckedApp } from '#test/support/checked-app.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { testOperations } from '#test/support/operations.ts';

/**
 * Outputs that hold nothing are thousands in each chain, and most blocks of deep-1 are alike: every tenth is asked for, all of
 * them where GOLDEN_STEP is 1 (as they were when this was written).
 */
const sampleStep = Number(process.env['GOLDEN_STEP'] ?? 10);
const ofBlocks = new Set(['block', 'r-blockinfo', 'inscriptions-block']);

describe.each(goldenChainNames)('ord’s API over the golden chain %s, from its folder', (name) => {
  const golden = new GoldenChain(name);
  const [best, ...stale] = golden.tips();
  const folder = mkdtempSync(join(tmpdir(), 'satscribe-ord-'));
  let database: TestDatabase;
  let blocks: BlockSource;
  let app: App;

  beforeAll(async () => {
    golden.writeFolder(folder);
    database = await createTestDatabase();
    const { pool } = database;
    blocks = await openFolderSource(folder);
    app = buildCheckedApp({
      pool,
      search: createSearchService({ pool, engine: createPostgresEngine() }),
      network: networks[golden.chain.network],
      logger: silentLogger(),
      operations: testOperations(pool),
      blocks,
    });
    await app.ready();
  });

  afterAll(async () => {
    await app.close();
    await blocks.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  // one app goes through all tips: what it keeps in memory must not outlive a reorganisation
  describe.each([...stale, best!])('at its tip $name', (tip) => {
    beforeAll(async () => {
      const source = await openFolderSource(folder, { tip: tip.tip });
      const { signal } = new AbortController();
      await follow({ source, pool: database.pool, signal, indexAddresses: true });
      await source.close();
    });

    test.each(indexQuestions.filter((question) => golden.hasAnswers(tip, question)))(
      '%s',
      async (question) => {
        const step = name === 'deep-1' && ofBlocks.has(question) ? sampleStep : 1;
        const { asked, different } = await differences(app, golden, tip, question, step);
        expect(different).toEqual([]);
        expect(asked).toBe(Math.ceil(golden.answerLines(tip, question).length / step));
      },
    );

    test('outputs that hold nothing, with an index of addresses and no node', async () => {
      const { asked, different } = await differences(app, golden, tip, 'output-empty', sampleStep);
      expect(different).toEqual([]);
      expect(asked).toBeGreaterThan(0);
    });
  });
});
