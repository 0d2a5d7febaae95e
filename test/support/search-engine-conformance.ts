import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Corpus, SearchEngine, SearchHits, Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withSnapshot } from '#kernel/pg/snapshot.ts';
import { foldText } from '#kernel/text/fold.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { type NaiveAnswer, naiveHashSearch, naiveTextSearch } from './naive-search.ts';
import {
  createSearchRows,
  type SearchRows,
  type StoredInscription,
  type TestContent,
  type TestInscription,
  text,
} from './search-rows.ts';

/** What is between the committed rows and the engine's own index of them. */
export interface EngineUnderTest {
  readonly engine: SearchEngine;
  /**
   * It has a copy of its own that follows the chain: until everything is taken up it answers exactly for a lower block, or
   * refuses with `search_engine_behind`.
   */
  readonly isFollower?: boolean;
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

    let isTakenUp = false;
    const takeUp = async (): Promise<void> => {
      await subject.takeUp();
      isTakenUp = true;
    };
    const clear = async (): Promise<void> => {
      isTakenUp = false;
      await rows.clear();
    };
    const addBlock = async (block: readonly TestInscription[]): Promise<void> => {
      isTakenUp = false;
      await rows.addBlock(block);
    };

    /** The answer equals the naive one of the block that it speaks of, which is the last one wherever it can be. */
    const expectEqual = async (
      question: unknown,
      ask: (snapshot: Snapshot) => Promise<SearchHits>,
      naiveOf: (inscriptions: readonly StoredInscription[]) => NaiveAnswer,
    ): Promise<void> => {
      const found = await withSnapshot(database.pool, ask).catch((error: unknown) => {
        const mayRefuse = subject.isFollower === true && !isTakenUp;
        if (mayRefuse && error instanceof AppError && error.code === 'search_engine_behind') return null;
        throw error;
      });
      if (found === null) return;
      const height = found.tip?.height ?? -1;
      if (subject.isFollower !== true || isTakenUp) expect(height).toBe(rows.height);
      const naive = naiveOf(rows.inscriptions.filter((inscription) => inscription.height <= height));
      expect({ question, keys: found.keys, totalItems: found.totalItems }).toEqual({ question, ...naive });
    };

    const expectNaive = (
      corpus: Corpus,
      needles: readonly string[],
      page = 1,
      itemsPerPage = 1000,
    ): Promise<void> =>
      expectEqual(
        { corpus, needles, page, itemsPerPage },
        (snapshot) =>
          subject.engine.searchText(snapshot, { corpus, needles: needles.map(foldText), page, itemsPerPage }),
        (inscriptions) => naiveTextSearch(inscriptions, corpus, needles, { page, itemsPerPage }),
      );

    const expectNaiveHash = (hash: Uint8Array, page = 1, itemsPerPage = 1000): Promise<void> =>
      expectEqual(
        { hash, page, itemsPerPage },
        (snapshot) => subject.engine.searchHash(snapshot, { hash, page, itemsPerPage }),
        (inscriptions) => naiveHashSearch(inscriptions, hash, { page, itemsPerPage }),
      );

    test('equal a scan of everything, however much is taken up, and after going back', async () => {
      await fc.assert(
        fc.asyncProperty(
          chain,
          fc.array(query, { minLength: 15, maxLength: 25 }),
          fc.nat(),
          async (blocks, queries, cut) => {
            await clear();
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
              await addBlock(block);
              if (height === 0) await ask();
              // every block but the last is taken up on its own: many parts, which are put together again
              if (height < blocks.length - 1) await takeUp();
            }
            await ask();
            await takeUp();
            await ask();
            isTakenUp = false;
            await rows.undoAbove((cut % blocks.length) - 1, subject.forget);
            await ask();
            for (const block of blocks.toReversed()) await addBlock(block);
            await ask();
            await takeUp();
            await ask();
          },
        ),
        { numRuns: Number(process.env['SEARCH_RUNS'] ?? 12), interruptAfterTimeLimit: 150_000 },
      );
    });

    test('find needles of one to four code points of every kind, each alone and as it is', async () => {
      await clear();
      const texts = fragments.flatMap((one, index) => [
        one,
        `${one}${fragments[(index * 7 + 3) % fragments.length]}${one}`,
        `x${fragments[(index * 5 + 1) % fragments.length]}${one}y`,
      ]);
      await addBlock(texts.map((value) => ({ content: text(value), metadata: JSON.stringify(value) })));
      for (const state of ['committed', 'taken up']) {
        if (state === 'taken up') await takeUp();
        for (const needle of fragments) {
          await expectNaive('content', [needle]);
          await expectNaive('metadata', [needle]);
        }
      }
    });

    test('find the longest needles, and many at once', async () => {
      await clear();
      const long = Array.from(
        { length: 1500 },
        (_, index) => fragments[(index * 31) % fragments.length]!,
      ).join('');
      const points = Array.from(long);
      await addBlock([
        { content: text(long), metadata: null },
        { content: text('a'.repeat(5000)), metadata: null },
        { content: text(`${'a'.repeat(999)}b`), metadata: null },
      ]);
      for (const state of ['committed', 'taken up']) {
        if (state === 'taken up') await takeUp();
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

    test('find needles at the ends of long texts, across their whole length, and none that is longer', async () => {
      await clear();
      const odd = fragments.join('');
      // 150 kB and 2 MB of UTF-8
      const texts = [
        `first!${'lorem 😀 ipsum '.repeat(10_000)}last?`,
        `ÄÖ${odd.repeat(8000)}😁`,
        'a'.repeat(100_001),
        'ab',
        'b',
        '',
        '😀',
        '\0',
      ];
      await addBlock(texts.map((value) => ({ content: text(value), metadata: null })));
      await takeUp();
      for (const needle of [
        'first!l',
        'f',
        'fi',
        'last?',
        't?',
        '?',
        ' last?',
        'last?x',
        'xfirst!',
        'äö',
        'äöA',
        '😁',
        'brc-20😁',
        'lorem 😀 ipsum '.repeat(66),
        'a'.repeat(1000),
        `${'a'.repeat(999)}b`,
        'ab',
        'abc',
        'b',
        'ba',
        '😀',
        '😀😀',
        '\u2400',
        '\0\0',
        '\0\0\0',
      ]) {
        await expectNaive('content', [needle]);
      }
      await expectNaive('content', ['first!', 'last?', '😀']);
      await expectNaive('content', ['a', 'b']);
    });

    test('count and page tens of thousands of matches, however deep', async () => {
      await clear();
      // runs of copies longer than any part of an index would hold together, and rare texts between them
      const inscriptionAt = (key: number): TestInscription => ({
        content: text(key % 1000 === 7 ? `rare ${key} copy` : `copy ${Math.floor(key / 700) % 5}`),
        metadata: key % 3 === 0 ? '{"every":"third"}' : null,
      });
      for (let height = 0; height < 3; height++) {
        await addBlock(Array.from({ length: 4000 }, (_, index) => inscriptionAt(height * 4000 + index)));
        if (height === 1) await takeUp();
      }
      await takeUp();
      for (const [page, itemsPerPage] of [
        [1, 1000],
        [2, 1000],
        [11, 1000],
        [12, 1000],
        [13, 1000],
        [120, 100],
        [77, 100],
        [3999, 3],
        [4001, 3],
        [1500, 7],
        [11_999, 1],
      ] as const) {
        await expectNaive('content', ['copy'], page, itemsPerPage);
        await expectNaive('content', ['copy 3'], page, itemsPerPage);
        await expectNaive('metadata', ['third'], page, itemsPerPage);
        await expectNaiveHash(createHash('sha256').update('copy 1').digest(), page, itemsPerPage);
      }
      await expectNaive('content', ['rare'], 12, 1);
      await expectNaive('content', ['rare'], 4, 3);
    });

    test('answer pages of copies exactly, the first and the last and those past the end', async () => {
      await clear();
      const copies = [text('one COPY'), text('another copy'), text('nothing')];
      for (let height = 0; height < 4; height++) {
        await addBlock(
          Array.from({ length: 500 }, (_, index) => ({
            content: copies[(index * 7 + height) % 3]!,
            metadata: '{"a":"copy"}',
          })),
        );
        if (height === 2) await takeUp();
      }
      for (const state of ['half', 'all']) {
        if (state === 'all') await takeUp();
        for (const corpus of ['content', 'metadata'] as const) {
          for (const page of [1, 2, 3, 13, 14, 15, 2 ** 31 - 1])
            await expectNaive(corpus, ['copy'], page, 100);
          await expectNaive(corpus, ['copy', 'another'], 1, 1);
        }
        await expectNaiveHash(createHash('sha256').update('nothing').digest(), 3, 100);
      }
    });

    test('find nothing for a needle with half of a surrogate pair, and in an empty index', async () => {
      await clear();
      await expectNaive('content', ['a']);
      await addBlock([{ content: text('😀 \ufffd'), metadata: null }]);
      await takeUp();
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
