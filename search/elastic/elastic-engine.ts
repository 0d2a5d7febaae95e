import type {
  HashQuery,
  SearchEngine,
  SearchHits,
  Snapshot,
  TextQuery,
  Tip,
} from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { hashFromDisplay } from '#kernel/primitives/hash.ts';
import type { ElasticClient } from './elastic-client.ts';
import { type ElasticTuning, usualTuning } from './elastic-tuning.ts';
import { readPage } from './key-pages.ts';
import { type DatabaseReader, type ReadMoment, ReadSession } from './read-session.ts';
import { type Clause, hashClause, needleClauses } from './text-query.ts';

export interface ElasticEngineOptions {
  /** Not closed with the engine. */
  readonly client: ElasticClient;
  /** The read alias, or an index. */
  readonly alias: string;
  readonly readDatabase: DatabaseReader;
  /** `spanKeys` as the index was written with. */
  readonly tuning?: Partial<ElasticTuning>;
}

interface Page {
  readonly page: number;
  readonly itemsPerPage: number;
}

/**
 * The engine that answers from Elasticsearch (docs/adr/0014). Answers speak of the block that the index has got to, which is
 * the tip of the snapshot or below it. Throws `search_engine_behind` while the index is of another chain than the
 * snapshot, and the other `search_engine_…` codes where the server does not answer in full.
 */
export function createElasticEngine(options: ElasticEngineOptions): SearchEngine {
  const { client, alias, readDatabase, tuning: given } = options;
  const tuning = { ...usualTuning, ...given };
  const session = new ReadSession(client, alias, readDatabase);

  const search = async (
    { client: postgres, tip }: Snapshot,
    clauses: readonly Clause[] | null,
    { page, itemsPerPage }: Page,
  ): Promise<SearchHits> => {
    if (clauses === null || tip === null) return { keys: [], totalItems: 0, tip };
    const slice = { offset: (page - 1) * itemsPerPage, limit: itemsPerPage };
    return session.run({ client: postgres, tip }, async (moment) => ({
      ...(await readPage({ moment, clauses, tuning }, slice)),
      tip: tipOf(moment),
    }));
  };

  return {
    name: 'elasticsearch',
    searchText: (snapshot: Snapshot, query: TextQuery) =>
      search(snapshot, needleClauses(query.corpus, query.needles), query),
    searchHash: (snapshot: Snapshot, query: HashQuery) => search(snapshot, [hashClause(query.hash)], query),
    facetsOfText: () => Promise.reject(new AppError('search_too_broad', 'Facets are not counted.')),
    facetsOfHash: () => Promise.reject(new AppError('search_too_broad', 'Facets are not counted.')),
    close: () => session.close(),
  };
}

const tipOf = ({ marker: { tip, epoch } }: ReadMoment): Tip => ({
  height: tip.height,
  hash: hashFromDisplay(tip.hash) ?? unreadable(tip.hash),
  undoEpoch: epoch,
});

function unreadable(hash: string): never {
  throw new AppError('search_engine_failed', 'The marker in Elasticsearch names no block.', { hash });
}
