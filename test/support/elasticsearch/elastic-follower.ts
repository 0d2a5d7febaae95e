import type pg from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { bulkDocuments } from '#search/elastic/documents/bulk-documents.ts';
import { readGroups } from '#search/elastic/documents/document-rows.ts';
import { documentsOf, type SearchDocument } from '#search/elastic/documents/group-document.ts';
import { createElasticEngine } from '#search/elastic/elastic-engine.ts';
import { PhraseBook } from '#search/elastic/phrases/phrase-book.ts';
import { createElasticClient } from '#search/elastic/server/elastic-client.ts';
import { type ElasticTuning, usualTuning } from '#search/elastic/server/elastic-tuning.ts';
import { type Marker, writeMarker } from '#search/elastic/server/marker.ts';
import {
  createSearchIndex,
  indexName,
  pointReadAlias,
  readAlias,
  refreshIndex,
} from '#search/elastic/server/search-index.ts';
import type { EngineUnderTest } from '#test/support/search/conformance-subject.ts';

let prefixes = 0;

/** Number of phrases taken from each text. Many phrases overlap each other; well-chosen phrases would not. */
const piecesOfText = 4;

/** Takes as many phrases as a book may have. They are pieces of existing texts, and may have only two characters. */
async function anyPhrases(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ text: Buffer }>(
    'SELECT CASE text WHEN 1 THEN body ELSE folded END AS text FROM chain.contents WHERE text <> 0 ORDER BY sha256 LIMIT 100',
  );
  const phrases: string[] = [];
  for (const text of rows.map((row) => row.text.toString())) {
    for (let piece = 0; piece < piecesOfText; piece++) {
      const from = (piece * 7) % Math.max(1, text.length - 1);
      const phrase = text.slice(from, from + 2 + ((phrases.length * 3) % 9));
      if (phrase.length < 2 || !phrase.isWellFormed() || phrases.includes(phrase)) continue;
      if (PhraseBook.tryOf([...phrases, phrase]) !== null) phrases.push(phrase);
    }
  }
  return phrases;
}

/**
 * The engine with the simplest follower of a chain. Each update is a batch of documents, and a chain that lost blocks
 * gets a new index. The sync has its own tests in search/sync.
 */
export async function followerUnderTest(
  pool: pg.Pool,
  url: string,
  { shards, tuning }: { shards: number; tuning?: Partial<ElasticTuning> },
): Promise<EngineUnderTest> {
  const client = createElasticClient({ url });
  const prefix = `test-${process.pid}-${Date.now().toString(36)}-${prefixes++}`;
  const alias = readAlias(prefix, 'regtest');
  const indexAt = (number_: number): string => indexName(prefix, 'regtest', number_);
  const bounds = { ...usualTuning, ...tuning };
  let made = 0;
  let marker: Marker | null = null;

  const newIndex = async (epoch: number, phrases: readonly string[]): Promise<Marker> => {
    const old = indexAt(made);
    made++;
    await createSearchIndex(client, indexAt(made), { shards, replicas: 0, loading: false });
    await pointReadAlias(client, alias, indexAt(made));
    if (made > 1) await client.request({ method: 'DELETE', path: `/${old}` });
    return {
      state: 'complete',
      database: 'test',
      rewinds: made,
      epoch,
      sequence: 0,
      tip: null,
      nextKey: 0,
      phrases,
      isMerged: false,
    };
  };

  const takeUp = (): Promise<void> =>
    withSnapshot(
      pool,
      async ({ client: postgres, tip }) => {
        if (tip === null) return;
        if (marker === null || marker.epoch !== tip.undoEpoch) {
          marker = await newIndex(tip.undoEpoch, await anyPhrases(postgres));
        }
        const book = new PhraseBook(marker.phrases);
        const { rows } = await postgres.query<{ next_key: number }>(
          'SELECT next_key FROM chain.blocks WHERE height = $1',
          [tip.height],
        );
        const { next_key: nextKey } = rows[0]!;
        const next: Marker = {
          ...marker,
          sequence: marker.sequence + 1,
          tip: { height: tip.height, hash: displayHash(tip.hash) },
          nextKey,
        };
        const documents = async function* (fromKey: number): AsyncGenerator<SearchDocument> {
          for await (const group of readGroups(postgres, fromKey, nextKey))
            yield* documentsOf(group, next.sequence, book, bounds);
        };
        await bulkDocuments(client, indexAt(made), documents(marker.nextKey), { bytesMax: 100_000 });
        await refreshIndex(client, indexAt(made));
        await writeMarker(client, indexAt(made), next);
        marker = next;
      },
      null,
    );

  // tests also search before the first update
  marker = await newIndex(0, []);
  return {
    engine: createElasticEngine({
      client,
      alias,
      readDatabase: () => Promise.resolve('test'),
      tuning: bounds,
    }),
    isFollower: true,
    takeUp,
    forget: () => Promise.resolve(),
    close: async () => {
      await client.request({ method: 'DELETE', path: `/${indexAt(made)}` });
      await client.close();
    },
  };
}
