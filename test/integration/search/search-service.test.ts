import { createHash } from 'node:crypto';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SearchEngine } from '#kernel/contracts/search-engine.ts';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asTxid, displayHash } from '#kernel/primitives/hash.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { testAsker } from '#test/support/http/asker.ts';
import {
  createSearchRows,
  type SearchRows,
  type TestInscription,
  testTxid,
  text,
} from '#test/support/search/search-rows.ts';

const sha256 = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
const page = { page: 1, itemsPerPage: 100 };
const long = `${'é'.repeat(2047)}x😀${'y'.repeat(3000)}`;
const html = `<p>${'decoded '.repeat(2000)}</p>`;
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

const inscriptions: TestInscription[] = [
  { content: text('First, Hello\0World'), metadata: '{"name":"One","n":1}' },
  { content: { type: 'image/png', body: png, text: null }, metadata: null },
  { content: null, metadata: `{"long":"${'m'.repeat(70_000)}"}` },
  { content: text(''), metadata: null },
  { content: text(long, 'text/html;charset=utf-8'), metadata: null },
  {
    content: {
      type: 'text/html',
      body: brotliCompressSync(html),
      text: html,
      encoding: 1,
      decoded: Buffer.from(html),
    },
    metadata: null,
  },
  {
    content: { type: 'text/html', body: gzipSync(html), text: html, encoding: 2, decoded: Buffer.from(html) },
    metadata: null,
  },
  {
    content: {
      type: 'text/html',
      body: zstdCompressSync('small'),
      text: 'small',
      encoding: 3,
      decoded: Buffer.from('small'),
    },
    metadata: null,
  },
  { content: { type: 'text/pl\u00e9in', body: Buffer.from('latin'), text: null }, metadata: null },
  { content: text('First, Hello\0World'), metadata: null },
];

describe('the search service', () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let service: SearchService;

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    service = createSearchService({ pool: database.pool, engine: createPostgresEngine() });
    await rows.addBlock(inscriptions.slice(0, 6));
    await rows.addBlock(inscriptions.slice(6));
  });
  afterAll(() => database?.drop());

  const lookUp = async (key: number) =>
    (await service.inscription({ txid: asTxid(testTxid(key)), index: 0 })).value;
  const found = async (search: string, phrase = false) =>
    (await service.textSearch({ corpus: 'content', text: search, phrase, ...page })).value;

  test('gives records as the interface names them, all values strings', async () => {
    const { tip, value } = await service.textSearch({
      corpus: 'content',
      text: 'hello, FIRST',
      phrase: false,
      ...page,
    });
    expect(tip?.height).toBe(1);
    expect(value.needles).toEqual(['hello', 'FIRST']);
    expect(value.totalItems).toBe(2);
    expect(value.records[0]).toEqual({
      txid: displayHash(testTxid(0)),
      inputindex: '0',
      inscriptionid: `${displayHash(testTxid(0))}i0`,
      inscriptionnumber: '0',
      blockheight: '0',
      contentstr: 'First, Hello\0World',
      contenttypestr: 'text/plain',
      contenthash: sha256('First, Hello\0World').toString('hex'),
      contentlength: '18',
      metadatastr: '{"name":"One","n":1}',
      createdat: '2026-01-02T03:04:05.678Z',
    });
    expect(value.records[1]).toMatchObject({ inscriptionnumber: '9', blockheight: '1', metadatastr: null });
  });

  test('takes commas as they are in a phrase, and finds NUL as its picture', async () => {
    expect((await found('first, hello', true)).totalItems).toBe(2);
    expect((await found('hello, first', true)).totalItems).toBe(0);
    expect((await found('o\0w')).totalItems).toBe(2);
    expect((await found('o\u2400w')).totalItems).toBe(2);
  });

  test('refuses texts that are no needles', async () => {
    for (const search of ['', ' , ', 'x'.repeat(1001), ','.repeat(5), Array(33).fill('a').join()]) {
      await expect(found(search)).rejects.toMatchObject({ code: 'search_text_invalid' });
    }
  });

  test('cuts texts of lists at 4,096 and 65,536 bytes, at the border of a code point', async () => {
    const [record] = (await found('éx😀y')).records;
    expect(record).toMatchObject({
      contentstr: `${'é'.repeat(2047)}x`,
      contentlength: String(Buffer.byteLength(long)),
    });
    const inMetadata = await service.textSearch({ corpus: 'metadata', text: 'mmmm', phrase: false, ...page });
    expect(inMetadata.value.records[0]?.metadatastr).toBe(`{"long":"${'m'.repeat(65_536 - 9)}`);
  });

  test('shows encoded texts decoded, and hash and length of what is stored', async () => {
    const { records } = await found('decoded decoded');
    expect(records.map(({ inscriptionnumber }) => inscriptionnumber)).toEqual(['5', '6']);
    for (const record of records) expect(record.contentstr).toBe(html.slice(0, 4096));
    expect(records[1]).toMatchObject({
      contentlength: String(gzipSync(html).length),
      contenthash: sha256(gzipSync(html)).toString('hex'),
    });
    expect((await lookUp(5))?.contentstr).toBe(html);
    expect((await lookUp(7))?.contentstr).toBe('small');
  });

  test('looks up whole records', async () => {
    expect(await lookUp(4)).toMatchObject({ contentstr: long, content: Buffer.from(long).toString('hex') });
    const binary = await lookUp(1);
    expect(binary).toMatchObject({ contentstr: '', content: '89504e47', contentlength: '4', owner: null });
    const none = await lookUp(2);
    expect(none).toMatchObject({
      contentstr: null,
      contenthash: null,
      contentlength: null,
      content: null,
      contenttypestr: null,
    });
    expect(none?.metadatastr).toHaveLength(70_011);
    const empty = await lookUp(3);
    expect(empty).toMatchObject({
      contentstr: '',
      contenthash: sha256('').toString('hex'),
      contentlength: '0',
      content: '',
    });
    expect(await lookUp(8)).toMatchObject({ contenttypestr: null, contentstr: '' });
    expect(await lookUp(10)).toBeNull();
    expect((await service.inscription({ txid: asTxid(testTxid(0)), index: 1 })).value).toBeNull();
  });

  test('gives the address of the output that holds an inscription', async () => {
    const script = Buffer.concat([Buffer.from([0x51, 0x20]), Buffer.alloc(32, 1)]);
    const insert = (key: number, height: number, place: number, spent: number | null, bytes: Buffer | null) =>
      database.pool.query(
        `INSERT INTO chain.locations (key, height, step, place, vout, sat_offset, script, spent_height)
         VALUES ($1, $2, 1, $3, 0, 0, $4, $5)`,
        [key, height, place, bytes, spent],
      );
    await insert(0, 0, 0, 1, Buffer.alloc(2, 7));
    await insert(0, 1, 0, null, script);
    await insert(1, 0, 0, 1, script);
    await insert(2, 0, 1, null, null);
    await insert(3, 0, 0, null, Buffer.from([0x6a]));
    expect((await lookUp(0))?.owner).toMatch(/^bcrt1p/u);
    for (const key of [1, 2, 3, 4]) expect((await lookUp(key))?.owner).toBeNull();
  });

  test('finds contents by the hash of their stored and of their decoded bytes', async () => {
    const keysOf = async (hash: Uint8Array): Promise<(string | null)[]> => {
      const { value } = await service.hashSearch({ hash, ...page });
      expect(value.records).toHaveLength(value.totalItems);
      return value.records.map(({ inscriptionnumber }) => inscriptionnumber);
    };
    expect(await keysOf(sha256('First, Hello\0World'))).toEqual(['0', '9']);
    expect(await keysOf(sha256(html))).toEqual(['5', '6']);
    expect(await keysOf(sha256(gzipSync(html)))).toEqual(['6']);
    expect(await keysOf(sha256(''))).toEqual(['3']);
    expect(await keysOf(sha256('new'))).toEqual([]);
  });

  test('says of many hashes which are new, and the first of the others', async () => {
    const asked = ['new', html, 'First, Hello\0World', 'newer', html].map(sha256);
    const { value, tip } = await service.hashes(asked);
    expect(tip?.height).toBe(1);
    expect(value.map(({ hash }) => hash)).toEqual(asked);
    expect(value.map(({ first }) => first?.inscriptionnumber ?? null)).toEqual([null, '5', '0', null, '5']);
    expect(value[1]?.first).toMatchObject({ blockheight: '0', contentstr: null, metadatastr: null });
    expect((await service.hashes([])).value).toEqual([]);
  });

  test('suggests words of the newest texts where the search server is away', async () => {
    const away: SearchEngine = {
      ...createPostgresEngine(),
      searchText: () => Promise.reject(new AppError('search_engine_unreachable', 'It is away.')),
    };
    const search = createSearchService({ pool: database.pool, engine: away });
    const { value } = await search.suggest('decod');
    expect(value.words.map(({ word }) => word)).toContain('decoded');
  });

  test('suggests words of the newest texts where the engine does not answer in time', async () => {
    const engine: SearchEngine = {
      ...createPostgresEngine(),
      searchText: ({ signal }) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    };
    const hanging = createSearchService({ pool: database.pool, engine });
    const { value } = await hanging.suggest('decod');
    expect(value.words.map(({ word }) => word)).toEqual(['decoded']);
    await expect(
      hanging.suggest('decod', testAsker('gone', AbortSignal.abort(new Error('gone')))),
    ).rejects.toThrow('gone');
  });

  test('leaves the number null where it is not known', async () => {
    await database.pool.query('UPDATE chain.inscriptions SET number = NULL WHERE key = 1');
    expect(await lookUp(1)).toMatchObject({ inscriptionnumber: null });
  });
});
