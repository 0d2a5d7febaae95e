import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Corpus, SearchEngine } from '#kernel/contracts/search-engine.ts';
import { withSnapshot } from '#kernel/pg/snapshot.ts';
import { foldText } from '#kernel/text/fold.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { naiveHashSearch, naiveTextSearch } from './naive-search.ts';
import {
  createSearchRows,
  type SearchRows,
  type TestContent,
  type TestInscription,
  text,
} from './search-rows.ts';

/** What is between the committed rows and the engine's own index of them. */
export interface EngineUnderTest {
  readonly engine: SearchEngine;
  /** Takes up everything that is committed. */
  takeUp(): Promise<void>;
  /** The hook of an undo. */
  readonly forget: Parameters<SearchRows['undoAbove']>[1];
  close(): Promise<void>;
}

// What needles and texts are made of: everything that some query language, encoding or database could trip over.
const fragments = [
  'a',
  'b',
  'A',
  'B',
  'ab',
  'ba',
  'aaa',
  ' ',
  '\n',
  '\t',
  '0',
  '1',
  '"',
  "'",
  '\\',
  '\\\\',
  '%',
  '_',
  '%%',
  '.*',

  '?',
  '*',
  '+',
  '(',
  ')',
  '[a-z]',
  '^',
  '$',
  '|',
  'AND',
  'OR',
  'NOT',
  '~1',
  '&&',
  '"p":"',
  '":"',
  '{"',
  '"}',
  ',',

  '<b>',
  '</',
  'é',
  'É',
  'e\u0301',
  'ß',
  'ẞ',
  'ss',
  'İ',
  'i',
  'ı',
  'I',
  'K',
  '\u212a',
  'k',
  'ſ',
  's',
  'Σ',
  'ς',
  'σ',

  '\0',
  '\u2400',
  '\u00a0',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '\uffff',
  '😀',
  '😁',
  '𐐀',
  '𐐨',
  'Ⱥ',
  'ⱥ',
  'ᏸ',
  'Ᏸ',
  '漢',
  '字',
  "'; DROP TABLE x; --",
  '\\u0041',
  '&amp;',
  'brc-20',
  'BRC-20',
];
const fragment = fc.constantFrom(...fragments);
const oddText = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fragment },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
    ),
    {
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(''));
const jsonText = fc
  .record({
    p: fc.constantFrom('brc-20', 'sns'),
    op: fc.constantFrom('mint', 'Transfer', 'deploy'),
    tick: fragment,
    amt: fc.nat({ max: 1000 }).map(String),
  })
  .map((value) => JSON.stringify(value));
const htmlText = oddText.map((value) => `<!DOCTYPE html><body class="a">${value}</body>`);
const anyText = fc.oneof(oddText, jsonText, htmlText);

const binary: fc.Arbitrary<TestContent> = fc
  .uint8Array({ maxLength: 20 })
  .map((body) => ({ type: 'image/png', body, text: null }));
const encoded: fc.Arbitrary<TestContent> = fc
  .tuple(anyText, fc.constantFrom(1, 2))
  .map(([value, encoding]) => {
    const decoded = Buffer.from(value);
    const body = encoding === 1 ? brotliCompressSync(decoded) : gzipSync(decoded);
    return { type: 'text/html', body, text: value, encoding, decoded };
  });
const content: fc.Arbitrary<TestContent | null> = fc.oneof(
  { weight: 12, arbitrary: anyText.map((value) => text(value)) },
  { weight: 2, arbitrary: encoded },
  { weight: 2, arbitrary: binary },
  { weight: 1, arbitrary: fc.constant(null) },
);
const inscription: fc.Arbitrary<TestInscription> = fc.record({
  content,
  metadata: fc.option(jsonText, { freq: 2 }),
});
/** Blocks with copies among them: a number instead of an inscription repeats an earlier one. */
const chain = fc
  .array(
    fc.array(
      fc.oneof({ weight: 3, arbitrary: inscription }, { weight: 1, arbitrary: fc.nat({ max: 1000 }) }),
      { maxLength: 30 },
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((blocks) => {
    const before: TestInscription[] = [];
    return blocks.map((block) =>
      block.map((item) => {
        const repeated = typeof item === 'number' ? before[item % (before.length + 1)] : item;
        const made = repeated ?? { content: text('first'), metadata: null };
        before.push(made);
        return made;
      }),
    );
  });

/** A needle cut from the texts of the chain (and put in other case), or made of the same fragments. */
interface NeedleSeed {
  readonly kind: 'cut' | 'made';
  readonly made: string;
  readonly at: number;
  readonly from: number;
  readonly length: number;
  readonly isUpper: boolean;
}
const needleSeed: fc.Arbitrary<NeedleSeed> = fc.record({
  kind: fc.constantFrom('cut', 'cut', 'made'),
  made: fc.array(fragment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  at: fc.nat(),
  from: fc.nat(),
  length: fc.integer({ min: 1, max: 12 }),
  isUpper: fc.boolean(),
});
const query = fc.record({
  corpus: fc.constantFrom<Corpus[]>('content', 'content', 'metadata'),
  needles: fc.array(needleSeed, { minLength: 1, maxLength: 3 }),
  page: fc.constantFrom(1, 1, 2, 3, 2 ** 31 - 1),
  itemsPerPage: fc.constantFrom(1, 3, 10, 1000),
});

function needleOf(seed: NeedleSeed, texts: readonly string[]): string {
  const points = Array.from(texts[seed.at % Math.max(1, texts.length)] ?? '');
  const cut = points
    .slice(seed.from % Math.max(1, points.length))
    .slice(0, seed.length)
    .join('');
  const needle = seed.kind === 'made' || cut === '' ? seed.made : cut;
  // only where it stays as many code points
  const upper = Array.from(needle, (point) =>
    Array.from(point.toUpperCase()).length === 1 ? point.toUpperCase() : point,
  );
  return seed.isUpper ? upper.join('') : needle;
}

/** What every engine must answer: the same as a scan of everything, in every state of its own index. */
export function describeSearchEngine(
  name: string,
  create: (pool: pg.Pool) => Promise<EngineUnderTest> | EngineUnderTest,
): void {
  describe(`${name}: searches`, () => {
    let database: TestDatabase;
    let rows: SearchRows;
    let subject: EngineUnderTest;

    beforeAll(async () => {
      database = await createTestDatabase();
      rows = await createSearchRows(database.pool);
      subject = await create(database.pool);
    });

    afterAll(async () => {
      await subject?.close();
      await database?.drop();
    });

    const expectNaive = async (
      corpus: Corpus,
      needles: readonly string[],
      page = 1,
      itemsPerPage = 1000,
    ): Promise<void> => {
      const naive = naiveTextSearch(rows.inscriptions, corpus, needles, { page, itemsPerPage });
      const found = await withSnapshot(database.pool, (snapshot) =>
        subject.engine.searchText(snapshot, { corpus, needles: needles.map(foldText), page, itemsPerPage }),
      );
      expect({ needles, keys: found.keys, totalItems: found.totalItems }).toEqual({ needles, ...naive });
      expect(found.tip?.height ?? -1).toBe(rows.height);
    };

    const expectNaiveHash = async (hash: Uint8Array, page = 1, itemsPerPage = 1000): Promise<void> => {
      const naive = naiveHashSearch(rows.inscriptions, hash, { page, itemsPerPage });
      const found = await withSnapshot(database.pool, (snapshot) =>
        subject.engine.searchHash(snapshot, { hash, page, itemsPerPage }),
      );
      expect({ keys: found.keys, totalItems: found.totalItems }).toEqual(naive);
    };

    test('equal a scan of everything, however much is taken up, and after going back', async () => {
      await fc.assert(
        fc.asyncProperty(
          chain,
          fc.array(query, { minLength: 15, maxLength: 25 }),
          fc.nat(),
          async (blocks, queries, cut) => {
            await rows.clear();
            const ask = async (): Promise<void> => {
              for (const { corpus, needles, page, itemsPerPage } of queries) {
                const texts = blocks
                  .flat()
                  .map((item) => (corpus === 'content' ? item.content?.text : item.metadata) ?? '');
                await expectNaive(
                  corpus,
                  needles.map((seed) => needleOf(seed, texts)),
                  page,
                  itemsPerPage,
                );
              }
              for (const { content: one } of blocks.flat().slice(0, 3)) {
                if (one === null) continue;
                await expectNaiveHash(createHash('sha256').update(one.body).digest());
                if (one.decoded !== undefined)
                  await expectNaiveHash(createHash('sha256').update(one.decoded).digest());
              }
            };
            for (const [height, block] of blocks.entries()) {
              await rows.addBlock(block);
              if (height === 0) await ask();
              // every block but the last is taken up on its own: many parts, which are put together again
              if (height < blocks.length - 1) await subject.takeUp();
            }
            await ask();
            await subject.takeUp();
            await ask();
            await rows.undoAbove((cut % blocks.length) - 1, subject.forget);
            await ask();
            for (const block of blocks.toReversed()) await rows.addBlock(block);
            await ask();
            await subject.takeUp();
            await ask();
          },
        ),
        { numRuns: Number(process.env['SEARCH_RUNS'] ?? 12), interruptAfterTimeLimit: 150_000 },
      );
    });

    test('find needles of one to four code points of every kind, each alone and as it is', async () => {
      await rows.clear();
      const texts = fragments.flatMap((one, index) => [
        one,
        `${one}${fragments[(index * 7 + 3) % fragments.length]}${one}`,
        `x${fragments[(index * 5 + 1) % fragments.length]}${one}y`,
      ]);
      await rows.addBlock(texts.map((value) => ({ content: text(value), metadata: JSON.stringify(value) })));
      for (const state of ['committed', 'taken up']) {
        if (state === 'taken up') await subject.takeUp();
        for (const needle of fragments) {
          await expectNaive('content', [needle]);
          await expectNaive('metadata', [needle]);
        }
      }
    });

    test('find the longest needles, and many at once', async () => {
      await rows.clear();
      const long = Array.from(
        { length: 1500 },
        (_, index) => fragments[(index * 31) % fragments.length]!,
      ).join('');
      const points = Array.from(long);
      await rows.addBlock([
        { content: text(long), metadata: null },
        { content: text('a'.repeat(5000)), metadata: null },
        { content: text(`${'a'.repeat(999)}b`), metadata: null },
      ]);
      for (const state of ['committed', 'taken up']) {
        if (state === 'taken up') await subject.takeUp();
        await expectNaive('content', [points.slice(100, 1100).join('')]);
        await expectNaive('content', ['a'.repeat(1000)]);
        await expectNaive('content', [`${'a'.repeat(999)}B`]);
        await expectNaive(
          'content',
          Array.from({ length: 32 }, (_, index) => points.slice(index, index + 40).join('')),
        );
        await expectNaive(
          'content',
          Array.from({ length: 32 }, (_, index) => 'a'.repeat(index + 1)),
        );
        await expectNaive('content', [
          ...Array.from({ length: 31 }, (_, index) => 'a'.repeat(index + 1)),
          'b',
        ]);
      }
    });

    test('answer pages of copies exactly, the first and the last and those past the end', async () => {
      await rows.clear();
      const copies = [text('one COPY'), text('another copy'), text('nothing')];
      for (let height = 0; height < 4; height++) {
        await rows.addBlock(
          Array.from({ length: 500 }, (_, index) => ({
            content: copies[(index * 7 + height) % 3]!,
            metadata: '{"a":"copy"}',
          })),
        );
        if (height === 2) await subject.takeUp();
      }
      for (const state of ['half', 'all']) {
        if (state === 'all') await subject.takeUp();
        for (const corpus of ['content', 'metadata'] as const) {
          for (const page of [1, 2, 3, 13, 14, 15, 2 ** 31 - 1])
            await expectNaive(corpus, ['copy'], page, 100);
          await expectNaive(corpus, ['copy', 'another'], 1, 1);
        }
        await expectNaiveHash(createHash('sha256').update('nothing').digest(), 3, 100);
      }
    });

    test('find nothing for a needle with half of a surrogate pair, and in an empty index', async () => {
      await rows.clear();
      await expectNaive('content', ['a']);
      await rows.addBlock([{ content: text('😀 \ufffd'), metadata: null }]);
      for (const needle of ['\ud83d', '\ude00', '\ud83d ', 'a\ud83d']) {
        const found = await withSnapshot(database.pool, (snapshot) =>
          subject.engine.searchText(snapshot, {
            corpus: 'content',
            needles: [needle],
            page: 1,
            itemsPerPage: 10,
          }),
        );
        expect(found.totalItems).toBe(0);
      }
    });
  });
}
