import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { TextMatch } from '#kernel/contracts/search-engine.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSealer, type Sealer } from '#search/seal/sealer.ts';
import { forgetAbove } from '#search/segments/forget-segments.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { ConformanceSubject } from '#test/support/search/conformance-subject.ts';
import {
  createSearchRows,
  type SearchRows,
  type TestInscription,
  text,
} from '#test/support/search/search-rows.ts';

const page = { page: 1, itemsPerPage: 100 };

describe('filters in Postgres', () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let sealer: Sealer;

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    sealer = createSealer({ pool: database.pool });
  });
  beforeEach(() => rows.clear());
  afterAll(async () => {
    await sealer?.close();
    await database?.drop();
  });

  const sealed = (): Promise<unknown> => sealer.sealPending(new AbortController().signal);

  test('are refused before more texts are read than may be, whichever texts they are', async () => {
    const properties = '{"gallery":[],"attributes":{"title":"a sunset","traits":{}}}';
    await rows.addBlock(
      Array.from({ length: 50 }, (_, at) => ({
        content: text(`word ${at}`),
        metadata: `{"word":${at}}`,
        properties,
      })),
    );
    const engine = createPostgresEngine({ readBytesMax: 250, cacheBytesMax: 1 });
    const asked = (match: TextMatch, needles: string[], filter = {}): Promise<number> =>
      withSnapshot(
        database.pool,
        async (snapshot) => {
          const query = { corpus: 'content', match, needles, filter, ...page } as const;
          return (await engine.searchText(snapshot, query)).totalItems;
        },
        null,
      );
    for (const state of ['committed', 'sealed']) {
      if (state === 'sealed') await sealed();
      for (const question of [
        () => asked('words', ['word']),
        () => asked('fuzzy', ['wort']),
        () => asked('substring', [], { metadata: { key: 'word' } }),
        () => asked('substring', [], { metadata: { value: '"' } }),
      ]) {
        await expect(question()).rejects.toMatchObject({ code: 'search_too_broad' });
      }
      // texts are only read if few can match; a substring that is found by its grams needs no reading
      expect(await asked('words', ['word', '17'])).toBe(1);
      expect(await asked('substring', ['word'])).toBe(50);
      // titles and traits are short, and Postgres reads them
      expect(await asked('substring', ['word'], { title: 'sun' })).toBe(50);
      expect(await asked('substring', [], { traits: [{ name: 'a', value: 'b' }] })).toBe(0);
      expect(await asked('substring', ['word'], { metadata: { value: '31' } })).toBe(1);
    }
  });

  test('know more types than fit a byte, and types that are longer than any is listed', async () => {
    const long = `long/${'x'.repeat(600)}`;
    const engine = createPostgresEngine();
    const subject = new ConformanceSubject(database.pool, rows, {
      engine,
      takeUp: async () => {
        await sealed();
      },
      forget: forgetAbove,
      close: () => engine.close(),
    });
    const inscriptions = Array.from(
      { length: 700 },
      (_, at): TestInscription => ({
        content: text('copy'),
        metadata: null,
        contentType: [`type/${at % 400}`, long, `${long}${at % 3}`][
          Number(at % 7 === 0) + Number(at % 14 === 0)
        ]!,
      }),
    );
    await subject.addBlock(inscriptions, 1_700_000_000);
    for (const state of ['committed', 'sealed', 'back']) {
      if (state === 'sealed') await subject.takeUp();
      if (state === 'back') {
        await subject.addBlock(inscriptions, 1_600_000_000);
        await subject.takeUp();
        await subject.undoAbove(0);
      }
      for (const contentType of ['type/0', 'type/399', 'type/*', long, `${long}2`, 'long/*', `${long}/*`]) {
        const question = {
          corpus: 'content',
          match: 'substring',
          needles: ['copy'],
          filter: { contentType },
        } as const;
        await subject.expectPage(question, page);
        await subject.expectFacets(question);
      }
      await subject.expectFacets({ corpus: 'content', match: 'substring', needles: ['copy'] });
    }
  });
});
