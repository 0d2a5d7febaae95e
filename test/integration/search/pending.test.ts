import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SearchRecord, SearchService } from '#kernel/contracts/search-service.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { pendingRows, setPending } from '#test/support/chain/rows/pending-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyBounds } from '#test/support/property-runs.ts';
import { naiveHashSearch, naiveTextSearch } from '#test/support/search/naive-search.ts';
import {
  createSearchRows,
  type SearchRows,
  type StoredInscription,
  storedInscription,
  type TestInscription,
  testTxid,
  text,
} from '#test/support/search/search-rows.ts';

const fragments = [
  'a',
  'A',
  'ab',
  'ß',
  'ẞ',
  'ſ',
  's',
  'K',
  'k',
  'é',
  '%',
  '_',
  '\\',
  '"',
  '\0',
  '␀',
  'İ',
  '😀',
  ' ',
];
const words = fc
  .array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 5 })
  .map((all) => all.join(''));
const content = fc.oneof(
  { weight: 6, arbitrary: words.map((value) => text(value)) },
  {
    weight: 1,
    arbitrary: words.map((value) => {
      const decoded = Buffer.from(value);
      return { type: 'text/plain', body: gzipSync(decoded), text: value, encoding: 2, decoded };
    }),
  },
  { weight: 1, arbitrary: words.map((value) => ({ ...text(value, 'image/png'), text: null })) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const inscription: fc.Arbitrary<TestInscription> = fc.record({
  content,
  metadata: fc.option(words, { nil: null }),
});
const paging = fc.record({
  page: fc.integer({ min: 1, max: 4 }),
  itemsPerPage: fc.integer({ min: 1, max: 5 }),
});

/** Keys of pending inscriptions start here, after all indexed keys. */
const pendingKey = 1_000_000;

let database: TestDatabase;
let rows: SearchRows;
let service: SearchService;

beforeAll(async () => {
  database = await createTestDatabase();
  rows = await createSearchRows(database.pool);
  service = createSearchService({ pool: database.pool, engine: createPostgresEngine() });
});
afterAll(() => database.drop());

const txidsOf = (records: readonly SearchRecord[]): string[] => records.map(({ txid }) => txid);
const txidOfKey = (key: number): string => displayHash(testTxid(key));

describe('searches with pending=1', () => {
  test('equal a scan of everything, with pending ones after the indexed, over the border of pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(inscription, { maxLength: 8 }),
        fc.array(inscription, { maxLength: 8 }),
        fc.array(fc.oneof(words, fc.constantFrom(...fragments)), { minLength: 1, maxLength: 2 }),
        paging,
        async (indexed, waiting, needles, page) => {
          await rows.clear();
          await rows.addBlock(indexed);
          const pending = waiting.map(
            (one, at): StoredInscription =>
              storedInscription(one, { key: pendingKey + at, height: -1, time: 0, number: null }),
          );
          // inscriptions that were mined meanwhile are in both tables
          const both = rows.inscriptions.slice(0, 2);
          await setPending(database.pool, [
            ...both.map((one, at) => pendingRows(testTxid(one.key), at + 1, one)),
            ...pending.map((one, at) => pendingRows(testTxid(one.key), 100 + at, one)),
          ]);
          const all = [...rows.inscriptions, ...pending];
          for (const corpus of ['content', 'metadata'] as const) {
            const phrase = needles.length === 1;
            const asked = needles.map((needle) =>
              phrase ? needle : needle.replace(/^[\t-\r ]+|[\t-\r ]+$/gu, ''),
            );
            if (asked.every((needle) => needle === '')) continue;
            const expected = naiveTextSearch(
              all,
              corpus,
              asked.filter((needle) => needle !== ''),
              page,
            );
            const { value, mempoolRevision } = await service.textSearch({
              corpus,
              text: needles.join(','),
              phrase,
              ...page,
              pending: true,
            });
            expect(value.totalItems).toBe(expected.totalItems);
            expect(txidsOf(value.records)).toEqual(expected.keys.map(txidOfKey));
            expect(value.records.map((record) => record.pending)).toEqual(
              expected.keys.map((key) => (key >= pendingKey ? 'true' : undefined)),
            );
            expect(mempoolRevision).toBeGreaterThan(0);
            const plain = await service.textSearch({ corpus, text: needles.join(','), phrase, ...page });
            expect(plain.value.totalItems).toBe(
              naiveTextSearch(
                rows.inscriptions,
                corpus,
                asked.filter((needle) => needle !== ''),
                page,
              ).totalItems,
            );
            expect(plain.mempoolRevision).toBeNull();
          }
          for (const { content: one } of waiting) {
            if (one === null) continue;
            for (const bytes of [
              one.body,
              ...('decoded' in one && one.decoded !== undefined ? [one.decoded] : []),
            ]) {
              const hash = createHash('sha256').update(bytes).digest();
              const expected = naiveHashSearch(all, hash, page);
              const { value } = await service.hashSearch({ hash, ...page, pending: true });
              expect(value.totalItems).toBe(expected.totalItems);
              expect(txidsOf(value.records)).toEqual(expected.keys.map(txidOfKey));
            }
          }
        },
      ),
      propertyBounds(30),
    );
  });

  test('give of a pending one what lists give: no height, no number, the text cut and decoded', async () => {
    await rows.clear();
    const long = 'é'.repeat(3000);
    const decoded = Buffer.from(long);
    const one = { type: 'text/plain', body: gzipSync(decoded), text: long, encoding: 2, decoded };
    await setPending(database.pool, [pendingRows(testTxid(7), 1, { content: one, metadata: '{"a":1}' })]);
    const found = await service.textSearch({
      corpus: 'content',
      text: 'éé',
      phrase: false,
      page: 1,
      itemsPerPage: 10,
      pending: true,
    });
    expect(found.value.records).toEqual([
      {
        txid: txidOfKey(7),
        inputindex: '0',
        inscriptionid: `${txidOfKey(7)}i0`,
        inscriptionnumber: null,
        blockheight: null,
        contentstr: 'é'.repeat(2048),
        contenttypestr: 'text/plain',
        contenthash: createHash('sha256').update(one.body).digest('hex'),
        contentlength: String(one.body.length),
        metadatastr: '{"a":1}',
        createdat: '2026-01-02T03:04:05.678Z',
        pending: 'true',
      },
    ]);
    const id = { txid: asTxid(testTxid(7)), index: 0 };
    const whole = await service.inscription(id, true);
    expect(whole.value).toMatchObject({
      contentstr: long,
      content: Buffer.from(one.body).toString('hex'),
      owner: null,
    });
    expect((await service.inscription(id)).value).toBeNull();
  });

  test('show nothing that was written by a follower that has been silent for a minute', async () => {
    await rows.clear();
    await setPending(database.pool, [
      pendingRows(testTxid(8), 1, { content: text('silence'), metadata: null }),
    ]);
    const search = {
      corpus: 'content',
      text: 'silence',
      phrase: false,
      page: 1,
      itemsPerPage: 1,
      pending: true,
    } as const;
    expect((await service.textSearch(search)).value.totalItems).toBe(1);
    await database.pool.query(`UPDATE chain.mempool_state SET updated_at = now() - interval '61 seconds'`);
    expect(await service.textSearch(search)).toMatchObject({
      value: { totalItems: 0 },
      mempoolRevision: null,
    });
  });
});
