import { createHash } from 'node:crypto';
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
import { parseThreads } from '#test/support/parse-threads.ts';
import { sampleStep } from '#test/support/property-runs.ts';

/**
 * Every inscription of every chain is requested: every second one as itself, the others in the nearly equal form for
 * scripts. Other similar requests are sampled. A long run sends all of them.
 */
const sampled: Readonly<Record<string, number>> = {
  inscription: 2,
  'inscription-number': 10,
  'inscriptions-block': 2,
  'r-inscription': 2,
  'r-metadata': 3,
  'r-children': 3,
  'r-parents': 3,
  'r-undelegated-content': 5,
  decode: 6,
  block: 3,
  'r-blockinfo': 3,
  'output-empty': 100,
  record: 5,
};
/** Most blocks of deep-1 are alike. */
const ofBlocks = new Set(['block', 'r-blockinfo', 'inscriptions-block']);

const stepOf = (chain: string, question: string): number =>
  sampleStep(chain === 'deep-1' && ofBlocks.has(question) ? 30 : (sampled[question] ?? 1));

/** `/content` as it was recorded: header bytes as latin-1. */
interface RecordedContent {
  readonly status: number;
  readonly contentType?: string;
  readonly contentEncoding?: string | null;
  readonly length?: number;
  readonly sha256?: string;
}

/** Asks about every `step`-th item, as many at once as the pool has connections. */
async function inLanes<T>(items: readonly T[], step: number, ask: (item: T) => Promise<void>): Promise<void> {
  const queue = items.filter((_, place) => place % step === 0).values();
  const lane = async (): Promise<void> => {
    for (const item of queue) await ask(item);
  };
  await Promise.all(Array.from({ length: 10 }, lane));
}

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
      const { pool } = database;
      await follow({ source, pool, signal, threads: parseThreads(), indexAddresses: true });
      await source.close();
    });

    test.each(indexQuestions.filter((question) => golden.hasAnswers(tip, question)))(
      '%s',
      async (question) => {
        const step = stepOf(name, question);
        const first = question === 'r-inscription' ? step - 1 : 0;
        const { asked, different } = await differences(app, golden, tip, question, { step, first });
        expect(different).toEqual([]);
        expect(asked).toBe(Math.ceil((golden.answerLines(tip, question).length - first) / step));
      },
    );

    test('outputs that hold nothing, with an index of addresses and no node', async () => {
      const { asked, different } = await differences(app, golden, tip, 'output-empty', {
        step: stepOf(name, 'output-empty'),
      });
      expect(different).toEqual([]);
      expect(asked).toBeGreaterThan(0);
    });

    // what follows is compared at the best tip of a chain alone
    if (tip !== best) return;

    test.each([
      ['content', '/content'],
      ['r-undelegated-content', '/r/undelegated-content'],
    ])('every %s is sent as ord sends it', async (question, path) => {
      const recorded = golden.answers<RecordedContent>(tip, question);
      expect(recorded.length).toBeGreaterThan(0);
      await inLanes(recorded, stepOf(name, question), async ({ key, value }) => {
        const ask = (encoding: string) =>
          app.inject({ url: `${path}/${key}`, headers: { 'accept-encoding': encoding } });
        const first = await ask('identity');
        const answer = first.statusCode === 406 ? await ask('br, gzip') : first;
        const { statusCode: status, headers, rawPayload } = answer;
        if (value!.status !== 200) {
          expect({ key, status }).toEqual({ key, status: value!.status });
          return;
        }
        expect({
          key,
          status,
          // blanks around a value are no part of it, and clients cut them (RFC 9110, 5.5)
          contentType: headers['content-type']?.trim(),
          contentEncoding: headers['content-encoding'] ?? null,
          length: rawPayload.length,
          sha256: createHash('sha256').update(rawPayload).digest('hex'),
        }).toEqual({ key, ...value });
      });
    });

    test('every search record says what ord says', async () => {
      const recorded = golden.answers<Record<string, string | number | null>>(tip, 'inscription');
      const text = (value: string | number | null | undefined): string | null =>
        value == null ? null : String(value);
      await inLanes(recorded, stepOf(name, 'record'), async ({ key, value }) => {
        const answer = await app.inject(`/indexer/inscription?id=${key}`);
        const [record] = answer.json<{ results: Record<string, string | null>[] }>().results;
        expect(record).toMatchObject({
          inscriptionid: key,
          txid: key.slice(0, 64),
          inscriptionnumber: text(value!['number']),
          blockheight: text(value!['height']),
          contenttypestr: text(value!['content_type']),
          contentlength: text(value!['content_length']),
          owner: text(value!['address']),
        });
        const body = record!['content'];
        const hash = body == null ? null : createHash('sha256').update(body, 'hex').digest('hex');
        expect(record!['contenthash']).toBe(hash);
      });
    });
  });
});
