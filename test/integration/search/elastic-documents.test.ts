import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { charms } from '#kernel/primitives/charm.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { indexPair } from '#kernel/text/index-pair.ts';
import { bulkDocuments } from '#search/elastic/documents/bulk-documents.ts';
import { readGroups } from '#search/elastic/documents/document-rows.ts';
import { documentsOf, type SearchDocument, tombstone } from '#search/elastic/documents/group-document.ts';
import { PhraseBook } from '#search/elastic/phrases/phrase-book.ts';
import { hashTerm, needleClauses } from '#search/elastic/queries/text-query.ts';
import { createElasticClient, type ElasticClient } from '#search/elastic/server/elastic-client.ts';
import {
  createSearchIndex,
  finishLoading,
  indexName,
  refreshIndex,
} from '#search/elastic/server/search-index.ts';
import { galleryTerm } from '#search/text/index-term.ts';
import { idOf, insertChain } from '#test/support/chain/rows/chain-rows.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import { sharedElasticsearch } from '#test/support/elasticsearch/shared-elasticsearch.ts';

const noPhrases = new PhraseBook([]);
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

describe.skipIf(!hasElasticsearch())('documents of the rows of a chain', () => {
  let database: TestDatabase;
  let client: ElasticClient;
  const index = indexName(`test-documents-${process.pid}-${Date.now().toString(36)}`, 'regtest', 1);

  beforeAll(async () => {
    database = await createTestDatabase();
    client = createElasticClient({ url: await sharedElasticsearch() });
    await createSearchIndex(client, index, { shards: 1, replicas: 0, loading: true });
  });
  afterAll(async () => {
    await client?.request({ method: 'DELETE', path: `/${index}` }).catch(() => undefined);
    await client?.close();
    await database?.drop();
  });

  async function* documents(from: number, to: number): AsyncGenerator<SearchDocument> {
    const made: SearchDocument[] = [];
    await withSnapshot(
      database.pool,
      async ({ client: postgres }) => {
        for await (const group of readGroups(postgres, from, to))
          made.push(...documentsOf(group, 5, noPhrases));
      },
      null,
    );
    yield* made;
  }

  /** The keys of all documents that a clause finds. */
  const keysOf = async (clause: object): Promise<number[]> => {
    const { hits } = await client.request<{ hits: { hits: { fields?: { keys?: number[] } }[] } }>({
      method: 'POST',
      path: `/${index}/_search`,
      body: { size: 100, query: { bool: { filter: [clause] } }, docvalue_fields: ['keys'] },
    });
    return hits.hits.flatMap(({ fields }) => fields?.keys ?? []).sort((a, b) => a - b);
  };

  test('are found by every field, and inscriptions that differ in one are not in one document', async () => {
    const parent = idOf('parent');
    const properties = JSON.stringify({
      gallery: [{ id: parent, attributes: { title: null, traits: {} } }],
      attributes: { title: 'My TITLE', traits: { Eyes: 'Laser', rank: 7 } },
    });
    await insertChain(database.pool, [
      {
        height: 0,
        rows: [
          { name: 'parent', body: 'same' },
          { name: 'copy', body: 'same' },
        ],
      },
      {
        height: 200,
        rows: [
          { name: 'child', body: 'same', parents: [parent] },
          { name: 'typed', body: 'same', type: 'TEXT/Plain; x=y' },
          { name: 'proto', body: 'same', metaprotocol: 'brc-20' },
          { name: 'cursed', body: 'same', charms: charms.cursed, curse: 1 },
          { name: 'unknown', body: 'same', number: null },
          { name: 'meta', body: 'same', metadata: '{"Name":"Foo","n":18446744073709551615}' },
          { name: 'proper', body: 'same', properties },
          { name: 'picture', body: 'PNG', type: 'image/png' },
          { name: 'nothing', body: null, type: null },
          { name: 'again', body: 'same' },
        ],
      },
    ]);
    const counts = await bulkDocuments(client, index, documents(0, 12));
    await finishLoading(client, index, 0);
    expect(counts.documents).toBe(9);
    expect(await keysOf({ range: { firstKey: { lt: 100 } } })).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11]);
    const found = {
      hashes: await keysOf({ term: { hashes: hashTerm(sha256('PNG')) } }),
      parents: await keysOf({ term: { parents: 0 } }),
      class: await keysOf({ term: { class: 'image/' } }),
      words: await keysOf({ term: { words: 'same' } }),
      metadataWords: await keysOf({ term: { metadataWords: 'foo' } }),
      last: await keysOf({ range: { lastKey: { gte: 11 } } }),
      type: await keysOf({ term: { type: 'TEXT/Plain; x=y' } }),
      metaprotocol: await keysOf({ term: { metaprotocol: 'brc-20' } }),
      cursed: await keysOf({ term: { cursed: true } }),
      blessed: await keysOf({ term: { cursed: false } }),
      unnumbered: await keysOf({ term: { unnumbered: true } }),
      metadata: await keysOf(needleClauses('metadata', ['"name":"foo"'])![0]!),
      metadataKeys: await keysOf({ term: { metadataKeys: 'name' } }),
      metadataValues: await keysOf({ term: { metadataValues: '18446744073709551615' } }),
      metadataPairs: await keysOf({ term: { metadataPairs: indexPair('name', 'foo') } }),
      title: await keysOf(needleClauses('title', ['y t'])![0]!),
      traits: await keysOf({ term: { traits: indexPair('eyes', 'laser') } }),
      gallery: await keysOf({ term: { gallery: galleryTerm(parseInscriptionId(parent)!) } }),
      size: await keysOf({ range: { size: { lt: 4 } } }),
    };
    expect(found).toEqual({
      hashes: [9],
      parents: [2],
      class: [9],
      words: [0, 1, 2, 3, 4, 5, 6, 7, 8, 11],
      metadataWords: [7],
      last: [0, 1, 11],
      type: [3],
      metaprotocol: [4],
      cursed: [5],
      blessed: [0, 1, 2, 3, 4, 6, 7, 8, 9, 11],
      unnumbered: [6],
      metadata: [7],
      metadataKeys: [7],
      metadataValues: [7],
      metadataPairs: [7],
      title: [8],
      traits: [8],
      gallery: [8],
      size: [9],
    });
    // days are those of the blocks' times: the third copy is a day later than the others
    const days = await client.request<{
      aggregations: { members: { days: { buckets: { key: number; doc_count: number }[] } } };
    }>({
      method: 'POST',
      path: `/${index}/_search`,
      body: {
        size: 0,
        query: { range: { firstKey: { lte: 0 } } },
        aggs: {
          members: {
            nested: { path: 'member' },
            aggs: { days: { histogram: { field: 'member.day', interval: 1, min_doc_count: 1 } } },
          },
        },
      },
    });
    expect(days.aggregations.members.days.buckets).toEqual([
      { key: 19_675, doc_count: 2 },
      { key: 19_677, doc_count: 1 },
    ]);
  });

  test('of an older version do not come back, and the same version may be written twice', async () => {
    const document = { id: '500', source: { firstKey: 500, count: 1, keys: [500], text: 'versioned\0\0' } };
    const write = (one: SearchDocument) => bulkDocuments(client, index, [one]);
    expect(await write({ ...document, version: 7 })).toMatchObject({ documents: 1, superseded: 0 });
    expect(await write({ ...document, version: 7 })).toMatchObject({ documents: 1, superseded: 0 });
    expect(await write(tombstone('500', 8))).toMatchObject({ documents: 1, superseded: 0 });
    expect(await write({ ...document, version: 7 })).toMatchObject({ documents: 0, superseded: 1 });
    await refreshIndex(client, index);
    expect(await keysOf({ match_phrase: { text: 'versioned' } })).toEqual([]);
  });

  test('of texts as large as a block are written and found from end to end', async () => {
    const length = 3_900_000;
    const text = Array.from({ length: length / 10 }, (_, at) => String(at).padStart(10, 'é')).join('');
    const documentOf = (id: number, source: object): SearchDocument => ({
      id: String(id),
      version: 1,
      source: { firstKey: id, count: 1, keys: [id], ...source },
    });
    await bulkDocuments(client, index, [
      documentOf(600, { text: `${text}end!\0\0` }),
      // the server accepts documents of at most a fiftieth of its heap, which is 512 MB here
      documentOf(601, { metadata: `${'-1.5,'.repeat(1_600_000)}last\0\0` }),
    ]);
    const tooLarge = documentOf(602, { metadata: '-1.5,'.repeat(3_000_000) });
    await expect(bulkDocuments(client, index, [tooLarge])).rejects.toMatchObject({
      code: 'search_engine_rejected',
    });
    await refreshIndex(client, index);
    expect(await keysOf(needleClauses('text', ['end!'])![0]!)).toEqual([600]);
    expect(await keysOf(needleClauses('text', [text.slice(-1000)])![0]!)).toEqual([600]);
    expect(await keysOf(needleClauses('metadata', ['-1.5,last'])![0]!)).toEqual([601]);
    expect(await keysOf(needleClauses('metadata', ['-1.5,-1.5,last,'])![0]!)).toEqual([]);
  });
});
