import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pendingPlaces } from '#indexer/mempool/pending/pending-place.ts';
import { type PendingInscription, packedId } from '#indexer/mempool/pending/pending-transaction.ts';
import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import type { SearchService, TextSearch } from '#kernel/contracts/search-service.ts';
import { asTxid } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight } from '#kernel/primitives/height.ts';
import { inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import { asSats } from '#kernel/primitives/sats.ts';
import { textsOfAttributes } from '#kernel/text/property-texts.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { pendingRows, setPending } from '#test/support/chain/rows/pending-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { createSearchRows, type TestInscription, testTxid, text } from '#test/support/search/search-rows.ts';

const parent = { txid: asTxid(new Uint8Array(testTxid(7))), index: 0 };
const other = { txid: asTxid(new Uint8Array(testTxid(8))), index: 3 };
const claims = Buffer.from(inscriptionIdBytes(parent));

interface Pending {
  readonly inscription: TestInscription;
  readonly more?: Partial<PendingInscription>;
  /** Whether the transaction moves the parent. */
  readonly moves?: boolean;
}

const of = (content: TestInscription['content'], metadata: string | null = null): TestInscription => ({
  content,
  metadata,
});

function texts(attributes: string): Pick<PendingInscription, 'title' | 'traits'> {
  const { title, traits } = textsOfAttributes(attributes);
  return {
    title: title === null ? null : Buffer.from(title),
    traits: traits === null ? null : Buffer.from(traits),
  };
}

const pending: readonly Pending[] = [
  { inscription: of(text('zero: deploy and more')) },
  { inscription: of(text('one: deployed', 'image/svg+xml')), more: { metaprotocol: Buffer.from('brc-20') } },
  { inscription: of(text('two')), more: { claimedParents: claims }, moves: true },
  // claims a parent that its transaction does not move, and moves one that it does not claim
  { inscription: of(text('three')), more: { claimedParents: claims } },
  { inscription: of(text('four')), moves: true },
  {
    inscription: of(text('five'), '{"Name":"Foo","list":[{"deep":12.50}]}'),
    more: {
      ...texts('{"title":"My Genesis","traits":{"Hat":"Red","Size":12.50}}'),
      // bytes across two ids look like a third id, which the gallery does not contain
      gallery: Buffer.concat([
        Buffer.alloc(36, 1),
        Buffer.from(inscriptionIdBytes(other)),
        Buffer.alloc(30, 2),
        Buffer.from(inscriptionIdBytes(parent)),
        Buffer.alloc(6, 3),
      ]),
    },
  },
  // without metadata
  {
    inscription: of(text('six')),
    more: texts('{"title":"Encore","traits":{}}'),
  },
];

let database: TestDatabase;
let service: SearchService;

beforeAll(async () => {
  database = await createTestDatabase();
  const rows = await createSearchRows(database.pool);
  await rows.addBlock([of(text('indexed: deploy'))]);
  service = createSearchService({ pool: database.pool, engine: createPostgresEngine() });
  const kept = pending.map(({ inscription, more, moves }, index) => {
    const row = pendingRows(testTxid(1000 + index), index + 1, inscription);
    const transfer = {
      inscription: packedId(parent.txid, parent.index),
      input: 0,
      from: { outpoint: Buffer.alloc(36, index), value: asSats(546), script: Buffer.alloc(0), holdings: [] },
      fromOffset: 0,
      placed: { place: pendingPlaces.unknown, output: null, satOffset: null },
    };
    const inscriptions = row.moves.inscriptions.map((known) => ({ ...known, ...more }));
    return { ...row, moves: { ...row.moves, inscriptions, transfers: moves === true ? [transfer] : [] } };
  });
  await setPending(database.pool, kept);
});
afterAll(() => database.drop());

async function found(filter: SearchFilter, more: Partial<TextSearch> = {}): Promise<string[]> {
  const { value } = await service.textSearch({
    corpus: 'content',
    text: 'e',
    phrase: false,
    page: 1,
    itemsPerPage: 100,
    pending: true,
    filter,
    ...more,
  });
  expect(value.totalItems).toBe(value.records.length);
  return value.records.map(({ contentstr }) => contentstr!.split(':')[0]!);
}

describe('filters of what is pending', () => {
  test('are those of its columns', async () => {
    expect(await found({ contentType: 'image/*' })).toEqual(['one']);
    expect(await found({ contentType: 'text/plain' })).toEqual(['indexed', 'zero', 'three', 'five']);
    expect(await found({ metaprotocol: 'brc-20' })).toEqual(['one']);
  });

  test('pass a child whose transaction moves the parent that it claims', async () => {
    expect(await found({ parent }, { text: 'o' })).toEqual(['two']);
    expect(await found({ parent: other }, { text: 'o' })).toEqual([]);
  });

  test('look into properties and metadata', async () => {
    expect(await found({ title: 'GENESIS' })).toEqual(['five']);
    expect(await found({ title: 'exodus' })).toEqual([]);
    expect(await found({ traits: [{ name: 'hat', value: 'RED' }] })).toEqual(['five']);
    expect(await found({ traits: [{ name: 'size', value: '12.50' }] })).toEqual(['five']);
    expect(await found({ traits: [{ name: 'Hat', value: 'Re' }] })).toEqual([]);
    expect(await found({ gallery: other })).toEqual(['five']);
    expect(await found({ gallery: parent })).toEqual([]);
    for (const metadata of [{ key: 'name' }, { value: 'FOO' }, { key: 'deep', value: '12.50' }])
      expect(await found({ metadata })).toEqual(['five']);
    expect(await found({ metadata: { key: 'name', value: '12.50' } })).toEqual([]);
  });

  test('pass nothing where they ask for a height or a number', async () => {
    expect(await found({ from: genesisHeight })).toEqual(['indexed']);
    expect(await found({ to: asHeight(1_000_000) })).toEqual(['indexed']);
    expect(await found({ cursed: false })).toEqual(['indexed']);
    expect(await found({ cursed: true })).toEqual([]);
  });

  test('find without a text, words or not', async () => {
    for (const match of ['substring', 'words', 'fuzzy'] as const) {
      for (const corpus of ['content', 'metadata'] as const) {
        const { value } = await service.textSearch({
          corpus,
          match,
          phrase: false,
          pending: true,
          page: 1,
          itemsPerPage: 10,
          filter: { title: 'encore' },
        });
        expect(value.records.map(({ contentstr }) => contentstr)).toEqual(['six']);
      }
    }
  });

  test('go with words, and with pages', async () => {
    expect(await found({}, { text: 'deploy', match: 'words' })).toEqual(['indexed', 'zero']);
    expect(await found({}, { text: 'delpoye', match: 'fuzzy' })).toEqual(['indexed', 'zero', 'one']);
    const { value } = await service.textSearch({
      corpus: 'content',
      text: 'deploy',
      match: 'fuzzy',
      phrase: false,
      pending: true,
      page: 2,
      itemsPerPage: 1,
      highlight: true,
      filter: { contentType: 'text/plain' },
    });
    expect(value.totalItems).toBe(2);
    expect(value.records.map(({ highlights }) => highlights)).toEqual([
      [{ text: 'zero: deploy and more', offset: 0, matches: [{ start: 6, end: 12 }] }],
    ]);
  });
});
