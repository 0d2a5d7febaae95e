import type {
  HashQuery,
  SearchEngine,
  SearchHits,
  Snapshot,
  TextQuery,
} from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { ByteCache } from './byte-cache.ts';
import { type EngineTuning, usualTuning } from './engine-tuning.ts';
import { IdSet } from './id-set.ts';
import { matchInscriptions, type Slice } from './inscription-matcher.ts';
import { planNeedles } from './needle-plan.ts';
import type { SealedPart } from './postings-reader.ts';
import { readSegments } from './segments.ts';
import { matchTexts } from './text-matcher.ts';

/** The engine that answers from Postgres alone, in the snapshot that it is given (docs/adr/0002). */
export function createPostgresEngine(given: Partial<EngineTuning> = {}): SearchEngine {
  const tuning = { ...usualTuning, ...given };
  const cache = new ByteCache<SealedPart>(tuning.cacheBytesMax);

  const searchText = async ({ client, tip }: Snapshot, query: TextQuery): Promise<SearchHits> => {
    const plan = planNeedles(query.needles);
    if (plan === null) return { keys: [], totalItems: 0, tip };
    const segments = await readSegments(client);
    const matching = { client, cache, tuning, corpus: query.corpus };
    const texts = await matchTexts(matching, segments[query.corpus], plan);
    const found = await matchInscriptions(matching, segments.inscriptions, texts, sliceOf(query));
    return { ...found, tip };
  };

  const searchHash = async ({ client, tip }: Snapshot, query: HashQuery): Promise<SearchHits> => {
    const { rows } = await client.query<{ content_id: number }>({
      name: 'search-hash',
      // two index look-ups; an OR of the two would be planned as a scan where one has few rows
      text: `SELECT content_id FROM chain.contents WHERE sha256 = $1
              UNION SELECT content_id FROM chain.contents WHERE decoded_sha256 = $1`,
      values: [Buffer.from(query.hash)],
    });
    const contents = new IdSet();
    for (const row of rows) contents.add(row.content_id);
    const matching = { client, cache, tuning, corpus: 'content' as const };
    const found = await matchInscriptions(
      matching,
      (await readSegments(client)).inscriptions,
      contents,
      sliceOf(query),
    );
    return { ...found, tip };
  };

  const facets = (): Promise<never> =>
    Promise.reject(new AppError('search_too_broad', 'Facets are not counted.'));
  return {
    name: 'postgres',
    searchText,
    searchHash,
    facetsOfText: facets,
    facetsOfHash: facets,
    close: () => Promise.resolve(),
  };
}

const sliceOf = ({ page, itemsPerPage }: { page: number; itemsPerPage: number }): Slice => ({
  offset: (page - 1) * itemsPerPage,
  limit: itemsPerPage,
});
