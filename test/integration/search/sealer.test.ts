import { Piscina } from 'piscina';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import type { SealResult, SealTask } from '#search/seal/seal.worker.ts';
import { sealTexts } from '#search/seal/seal-texts.ts';
import { createSealer } from '#search/seal/sealer.ts';
import { forgetAbove } from '#search/segments/forget-segments.ts';
import { readSealState } from '#search/segments/segments.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { naiveTextSearch } from '#test/support/search/naive-search.ts';
import {
  createSearchRows,
  type SearchRows,
  type TestInscription,
  text,
} from '#test/support/search/search-rows.ts';

const forever = new AbortController().signal;
const everything = { partial: true, idsAbove: 0, bytesAbove: 0 };

describe('the sealer', () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let workers: Piscina<SealTask, SealResult>;

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    workers = new Piscina({
      filename: new URL('../../../search/seal/seal.worker.ts', import.meta.url).href,
      maxThreads: 1,
    });
  });
  beforeEach(() => rows.clear());
  afterAll(async () => {
    await workers?.destroy();
    await database?.drop();
  });

  const block = (from: number, count: number, word: string): TestInscription[] =>
    Array.from({ length: count }, (_, index) => ({
      content: text(`${word} ${from + index}`),
      metadata: index % 3 === 0 ? `{"${word}":${from + index}}` : null,
    }));

  // one engine for all tests, because it must notice each change of the segments
  const engine = createPostgresEngine({ indexedMin: 0 });

  /** Expects the same results from the index as from a scan; `word` is in every text. */
  const expectExact = async (...needles: string[]): Promise<void> => {
    for (const corpus of ['content', 'metadata'] as const) {
      for (const needle of needles) {
        const page = { page: 1, itemsPerPage: 1000 };
        const { keys, totalItems } = await withSnapshot(
          database.pool,
          (snapshot) => engine.searchText(snapshot, { corpus, needles: [needle], ...page }),
          null,
          engine.opening,
        );
        expect({ keys, totalItems }).toEqual(naiveTextSearch(rows.inscriptions, corpus, [needle], page));
      }
    }
  };

  test('leaves one segment a full window and few others, and nothing that belongs to none', async () => {
    const sealer = createSealer({ pool: database.pool, bounds: { windowIds: 32, windowKeys: 32 } });
    for (let height = 0; height < 20; height++) {
      await rows.addBlock(block(height * 9, 9, 'word'));
      await sealer.sealPending(forever);
    }
    await sealer.close();
    const { segments } = await readSealState(database.pool);
    expect(segments.content.filter(({ firstId, nextId }) => nextId - firstId === 32)).toHaveLength(5);
    expect(segments.content.length).toBeLessThanOrEqual(5 + 4);
    expect(segments.inscriptions.length).toBeLessThanOrEqual(5 + 4);
    const { rows: orphans } = await database.pool.query(
      `SELECT segment_id FROM chain.search_postings UNION SELECT segment_id FROM chain.search_columns
       EXCEPT SELECT segment_id FROM chain.search_segments`,
    );
    expect(orphans).toEqual([]);
    await expectExact('word', 'w', '1', '17');
  });

  test('writes nothing that was read before an undo', async () => {
    await rows.addBlock(block(0, 10, 'kept'));
    await rows.addBlock(block(10, 10, 'stale'));
    const outcome = await sealTexts(
      database.pool,
      async (task) => {
        const made = await workers.run(task);
        await rows.undoAbove(0, forgetAbove);
        await rows.addBlock(block(10, 10, 'fresh'));
        return made;
      },
      'content',
      { windowIds: 64, segmentTextBytesMax: 1000, frequentMin: 2 },
      everything,
    );
    expect(outcome).toBe('changed');
    expect((await readSealState(database.pool)).segments.content).toEqual([]);
    await expectExact('stale', 'fresh', 'kept');
  });

  test('an undo takes back what reaches above, also while it is sealed', async () => {
    const sealer = createSealer({ pool: database.pool, bounds: { windowIds: 16, windowKeys: 16 } });
    await rows.addBlock(block(0, 40, 'kept'));
    for (let round = 0; round < 8; round++) {
      await rows.addBlock(block(40 + round, 25, `stale${round}`));
      await Promise.all([sealer.sealPending(forever), rows.undoAbove(0, forgetAbove)]);
      const { segments, next } = await readSealState(database.pool);
      for (const kind of ['content', 'metadata', 'inscriptions'] as const) {
        for (const segment of segments[kind]) expect(segment.nextId).toBeLessThanOrEqual(next[kind]);
      }
      await expectExact('kept', `stale${round}`);
    }
    await sealer.close();
  });

  test('several at once make one index', async () => {
    const bounds = { windowIds: 16, windowKeys: 16 };
    const sealers = [1, 2, 3].map(() => createSealer({ pool: database.pool, bounds }));
    for (let height = 0; height < 4; height++) {
      await rows.addBlock(block(height * 30, 30, 'word'));
      await Promise.all(sealers.map((sealer) => sealer.sealPending(forever)));
    }
    await Promise.all(sealers.map((sealer) => sealer.close()));
    const { segments, next } = await readSealState(database.pool);
    expect(next.content).toBe(120);
    for (const kind of ['content', 'metadata', 'inscriptions'] as const) {
      let end = 0;
      for (const segment of segments[kind]) {
        expect(segment.firstId).toBe(end);
        end = segment.nextId;
      }
      expect(end).toBe(next[kind]);
    }
    await expectExact('word', '1');
  });

  test('asked twice at once makes nothing twice', async () => {
    const sealer = createSealer({ pool: database.pool, bounds: { windowIds: 64, windowKeys: 64 } });
    await rows.addBlock(block(0, 40, 'once'));
    const idsTaken = `SELECT coalesce(pg_sequence_last_value(
      pg_get_serial_sequence('chain.search_segments', 'segment_id')), 0) AS last`;
    const before = await database.pool.query<{ last: number }>(idsTaken);
    const [first, second] = await Promise.all([sealer.sealPending(forever), sealer.sealPending(forever)]);
    await sealer.close();
    const after = await database.pool.query<{ last: number }>(idsTaken);
    expect([first, second]).toEqual([{ segments: 4 }, { segments: 0 }]);
    expect(after.rows[0]!.last - before.rows[0]!.last).toBe(4);
  });

  test('in the background seals whole windows at once and leaves a small rest to the scan', async () => {
    const sealer = createSealer({ pool: database.pool, bounds: { windowIds: 64, windowKeys: 64 } });
    await rows.addBlock(block(0, 150, 'word'));
    const stop = new AbortController();
    const running = sealer.run(stop.signal);
    await expect
      .poll(async () => (await readSealState(database.pool)).segments.inscriptions.length, {
        timeout: 20_000,
      })
      .toBe(2);
    stop.abort();
    await running;
    const { segments } = await readSealState(database.pool);
    expect(segments.content.map(({ nextId }) => nextId)).toEqual([64, 128]);
    await sealer.close();
    await expectExact('word', '149');
  });

  test('closes a segment sooner where its texts are of a wide script', async () => {
    const bounds = { windowIds: 64, segmentTextBytesMax: 4000 };
    const segmentsOf = async (script: (index: number) => string): Promise<number> => {
      await rows.clear();
      await rows.addBlock(
        Array.from({ length: 40 }, (_, index) => ({ content: text(script(index)), metadata: null })),
      );
      const sealer = createSealer({ pool: database.pool, bounds });
      await sealer.sealPending(forever);
      await sealer.close();
      await expectExact(script(39).slice(2, 7));
      return (await readSealState(database.pool)).segments.content.length;
    };
    // each text has 90 bytes: one segment has room for 44 Latin texts, but only for 3 texts of 30 Chinese characters
    expect(await segmentsOf((index) => `${index + 10}`.repeat(45))).toBe(1);
    const wide = (index: number): string =>
      String.fromCodePoint(...Array.from({ length: 30 }, (_, place) => 0x4e00 + index * 30 + place));
    expect(await segmentsOf(wide)).toBe(14);
  });

  test('leaves a segment as it is where its texts leave no room for the next one', async () => {
    const sealer = createSealer({
      pool: database.pool,
      bounds: { windowIds: 64, segmentTextBytesMax: 1000, frequentMin: 2 },
    });
    const texts = (count: number, value: (index: number) => string): Promise<unknown> =>
      rows.addBlock(
        Array.from({ length: count }, (_, index) => ({ content: text(value(index)), metadata: null })),
      );
    await texts(10, (index) => `latin ${index}${'x'.repeat(90)}`);
    await sealer.sealPending(forever);
    // 30 bytes would fit, but each Chinese character counts as much as 35 Latin characters
    await texts(10, (index) => String.fromCodePoint(0x4e00 + index));
    await sealer.sealPending(forever);
    await sealer.close();
    const { segments } = await readSealState(database.pool);
    expect(segments.content.map(({ nextId, textBytes }) => [nextId, textBytes])).toEqual([
      [10, 970],
      [20, 350],
    ]);
    await expectExact('latin', '丂');
  });

  test('while much comes in, seals as much text as a segment takes before its window is complete', async () => {
    const bulk = { partial: false, idsAbove: 0, bytesAbove: 0 };
    const seal = (segmentTextBytesMax: number): Promise<string> =>
      sealTexts(
        database.pool,
        (task) => workers.run(task),
        'content',
        { windowIds: 64, segmentTextBytesMax, frequentMin: 2 },
        bulk,
      );
    await rows.addBlock(block(0, 60, 'a rather long word'));
    expect(await seal(10_000)).toBe('nothing');
    expect(await seal(500)).toBe('sealed');
    await expectExact('long word', '59');
  });

  test('continues after an error, and ends when its signal is aborted', async () => {
    const errors: unknown[] = [];
    const sealer = createSealer({
      pool: database.pool,
      onError: (error) => errors.push(error),
      bounds: { windowIds: 8 },
    });
    await rows.addBlock(block(0, 20, 'word'));
    await database.pool.query('ALTER TABLE chain.search_postings RENAME TO away');
    const stop = new AbortController();
    const running = sealer.run(stop.signal);
    await expect.poll(() => errors.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await database.pool.query('ALTER TABLE chain.away RENAME TO search_postings');
    await expect
      .poll(async () => (await readSealState(database.pool)).segments.content.length, { timeout: 20_000 })
      .toBe(2);
    stop.abort();
    await running;
    await rows.addBlock(block(20, 20, 'word'));
    expect(await sealer.sealPending(stop.signal)).toEqual({ segments: 0 });
    await sealer.close();
    await expectExact('word');
  });
});
