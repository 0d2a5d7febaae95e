import { keyOfInscription, keysOfHeights } from '#chain/snapshot/inscription-keys.ts';
import type {
  HashMatches,
  SearchEngine,
  SearchFacets,
  SearchFilter,
  SearchHits,
  SearchPlace,
  SearchSlice,
  Snapshot,
  TextMatches,
  Tip,
} from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHashHex, parseBlockHash } from '#kernel/primitives/hash.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { readFacets } from './facets.ts';
import type { PageSource } from './pages/key-list.ts';
import { allKeys, isCut, type KeyWindow, keysEnd } from './pages/key-window.ts';
import { type Matching, type MatchingPage, readPage } from './pages/sorted-pages.ts';
import { filterClauses } from './queries/filter-clauses.ts';
import { type DatabaseReader, type ReadMoment, ReadSession } from './queries/read-session.ts';
import { hashClause, type TextQuery, textQuery } from './queries/text-query.ts';
import type { ElasticClient } from './server/elastic-client.ts';
import { type ElasticTuning, usualTuning } from './server/elastic-tuning.ts';

export interface ElasticEngineOptions {
  /** The client. The engine does not close it. */
  readonly client: ElasticClient;
  /** The read alias, or the name of an index. */
  readonly alias: string;
  readonly readDatabase: DatabaseReader;
  /** The `spanKeys` that the index was written with. */
  readonly tuning?: Partial<ElasticTuning>;
}

/** A search without the position of its page. */
interface Question {
  /** Makes the clauses of the search for the index of one moment. Null: nothing can match. */
  readonly queryOf: (source: PageSource) => Promise<TextQuery | null>;
  readonly filter: SearchFilter | undefined;
}

/**
 * The engine that answers from Elasticsearch (docs/adr/0014). The moment of an answer is the block that the index has
 * reached: the tip of the snapshot, or a block below it. Throws `search_engine_behind` while the index follows another
 * chain than the snapshot, and other `search_engine_…` codes if the server does not answer in full.
 */
export function createElasticEngine(options: ElasticEngineOptions): SearchEngine {
  const { client, alias, readDatabase, tuning: given } = options;
  const tuning = { ...usualTuning, ...given };
  const session = new ReadSession(client, alias, readDatabase, tuning);

  const answer = async <Found>(
    snapshot: Snapshot,
    question: Question,
    none: Found,
    read: (source: PageSource, matching: Matching) => Promise<Found>,
  ): Promise<Found & { readonly tip: Tip | null }> => {
    const { client: postgres, tip } = snapshot;
    const filtered = tip === null ? null : await readFilter(postgres, question.filter);
    if (filtered === null || tip === null) return { ...none, tip };
    return session.run({ ...snapshot, tip }, async (moment) => {
      const source = { moment, tuning };
      const query = await question.queryOf(source);
      if (query === null) return { ...none, tip };
      const matching = matchingOf(query, filtered);
      return { ...(await read(source, matching)), tip: tipOf(moment) };
    });
  };
  const search = (snapshot: Snapshot, question: Question, slice: SearchSlice): Promise<SearchHits> =>
    answer(snapshot, question, noPage, async (source, matching) =>
      readPage(source, matching, { ...slice, ...(await placeOf(snapshot.client, slice)) }),
    );
  const facets = (snapshot: Snapshot, question: Question): Promise<SearchFacets> =>
    answer(snapshot, question, noFacets, readFacets);

  return {
    name: 'elasticsearch',
    searchText: (snapshot, query) => search(snapshot, ofText(query), query),
    searchHash: (snapshot, query) => search(snapshot, ofHash(query), query),
    facetsOfText: (snapshot, matches) => facets(snapshot, ofText(matches)),
    facetsOfHash: (snapshot, matches) => facets(snapshot, ofHash(matches)),
    close: () => session.close(),
  };
}

const noPage: MatchingPage = { keys: [], totalItems: 0 };
const noFacets: Omit<SearchFacets, 'tip'> = { totalItems: 0, types: [], otherTypes: 0, days: [] };

const ofText = (matches: TextMatches): Question => ({
  queryOf: ({ moment, tuning }) => textQuery(matches, moment, tuning),
  filter: matches.filter,
});

const ofHash = ({ hash, filter }: HashMatches): Question => ({
  queryOf: () => Promise.resolve({ clauses: [hashClause(hash)], within: null, isRare: false }),
  filter,
});

/** How a query with a filter matches. Counts of all matches of a text are invalid for filtered matches. */
function matchingOf({ clauses, within, isRare }: TextQuery, filtered: Filtered): Matching {
  const isAll = filtered.clauses.length === 0 && !isCut(filtered.window);
  return {
    clauses: [...clauses, ...filtered.clauses],
    window: filtered.window,
    within: isAll ? within : null,
    isRare,
  };
}

type Filtered = Pick<Matching, 'clauses' | 'window'>;

/**
 * The part of a filter that Postgres resolves into keys: heights and a parent. It reads the snapshot, so it knows every
 * block below the tip.
 */
async function readFilter(postgres: Snapshot['client'], filter: SearchFilter = {}): Promise<Filtered | null> {
  const { parent } = filter;
  const parentKey = parent === undefined ? null : await keyOfInscription(postgres, parent);
  const filtered = filterClauses(filter, parentKey);
  if (filtered === null) return null;
  return { clauses: filtered, window: await readWindow(postgres, filter) };
}

/**
 * Adds a key to a page position in the order of keys. It is the key of the first inscription after the position,
 * because the position may be in blocks that were taken back.
 */
async function placeOf(
  postgres: Snapshot['client'],
  { sort, order = 'asc', after }: SearchSlice,
): Promise<{ readonly after?: SearchPlace }> {
  if (after === undefined) return {};
  if (sort !== 'number' || after.number === null) return { after };
  const [sides, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
  const { rows } = await postgres.query<{ key: InscriptionKey }>(
    `SELECT key FROM chain.inscriptions
      WHERE number >= $3 AND number <= $4 AND (number, key) ${sides} ($1, $2)
      ORDER BY number ${direction}, key ${direction} LIMIT 1`,
    [after.number, after.key, ...(after.number < 0 ? [-(2 ** 31), -1] : [0, 2 ** 31 - 1])],
  );
  const isAscending = (order === 'asc') === after.number >= 0;
  const first = rows[0]?.key;
  if (isAscending) return { after: { ...after, key: first === undefined ? keysEnd : first - 1 } };
  return { after: { ...after, key: first === undefined ? 0 : first + 1 } };
}

/** The keys of the blocks in a range of heights. */
async function readWindow(
  postgres: Snapshot['client'],
  { from, to }: Pick<SearchFilter, 'from' | 'to'>,
): Promise<KeyWindow> {
  if (from === undefined && to === undefined) return allKeys;
  const { first, end } = await keysOfHeights(postgres, { from, to });
  // if there is no block above, the window ends where the index ends
  return { from: from === undefined ? 0 : (first ?? keysEnd), to: to === undefined ? keysEnd : (end ?? 0) };
}

const tipOf = ({ marker: { tip, epoch } }: ReadMoment): Tip => ({
  height: tip.height,
  hash: parseBlockHash(tip.hash) ?? unreadable(tip.hash),
  undoEpoch: epoch,
});

function unreadable(hash: BlockHashHex): never {
  throw new AppError('search_engine_failed', 'The marker in Elasticsearch does not name a block.', { hash });
}
