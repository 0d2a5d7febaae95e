import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '#http/server/app-dependencies.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { networks } from '#kernel/primitives/network.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { GoldenChain, goldenChainNames } from '#test/support/chain/golden-chain.ts';
import { buildCheckedApp } from '#test/support/checked-app.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { testOperations } from '#test/support/operations.ts';

/** `/content` as it was recorded: header bytes as latin-1. */
interface RecordedContent {
  readonly status: number;
  readonly contentType?: string;
  readonly contentEncoding?: string | null;
  readonly length?: number;
  readonly sha256?: string;
}

/** In flight at once: as many as the pool has connections. */
const lanes = 10;

async function inLanes<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (const item of queue) await run(item);
    }),
  );
}

describe.each(goldenChainNames)('of the golden chain %s', (name) => {
  const golden = new GoldenChain(name);
  const [best] = golden.tips();
  const folder = mkdtempSync(join(tmpdir(), 'satscribe-golden-'));
  let database: TestDatabase;
  let app: App;

  beforeAll(async () => {
    golden.writeFolder(folder);
    database = await createTestDatabase();
    const source = await openFolderSource(folder);
    await follow({ source, pool: database.pool, signal: new AbortController().signal });
    await source.close();
    const { pool } = database;
    const search = createSearchService({ pool, engine: createPostgresEngine() });
    app = buildCheckedApp({
      pool,
      search,
      network: networks[golden.chain.network],
      logger: silentLogger(),
      operations: testOperations(pool),
    });
    await app.ready();
  });

  afterAll(async () => {
    await app.close();
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['content', '/content'],
    ['r-undelegated-content', '/r/undelegated-content'],
  ])('every %s is sent as ord sends it', async (question, path) => {
    const recorded = golden.answers<RecordedContent>(best!, question);
    expect(recorded.length).toBeGreaterThan(0);
    await inLanes(recorded, async ({ key, value }) => {
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

  test('every inscription has the fields of ord’s answer', async () => {
    const recorded = golden.answers<Record<string, unknown>>(best!, 'inscription');
    await inLanes(recorded, async ({ key, value }) => {
      const answer = await app.inject({
        url: `/inscription/${key}`,
        headers: { accept: 'application/json' },
      });
      // without a source here: docs/ord-api.md
      const { rune: _rune, ...expected } = value!;
      expect(answer.json()).toEqual(expected);
    });
  });

  test('every search record says what ord says', async () => {
    const recorded = golden.answers<Record<string, string | number | null>>(best!, 'inscription');
    const text = (value: string | number | null | undefined): string | null =>
      value == null ? null : String(value);
    await inLanes(recorded, async ({ key, value }) => {
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
