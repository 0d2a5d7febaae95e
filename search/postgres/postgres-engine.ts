import type {
  HashMatches,
  HashQuery,
  SearchEngine,
  SearchFacets,
  SearchFilter,
  SearchHits,
  SearchSlice,
  Snapshot,
  TextMatches,
  TextQuery,
} from '#kernel/contracts/search-engine.ts';
import { ByteCache } from '#search/segments/byte-cache.ts';
import { KnownSegments, segmentsVersion } from '#search/segments/known-segments.ts';
import type { SealedPart } from '#search/segments/postings-reader.ts';
import { BlockDays } from './block-days.ts';
import { ContentLengths } from './content-lengths.ts';
import { type EngineTuning, usualTuning } from './engine-tuning.ts';
import { filterConditions } from './filter-conditions.ts';
import { IdSet } from './id-set.ts';
import { matchInscriptions } from './inscription-matcher.ts';
import { KeyColumns } from './key-columns.ts';
import { type KeyConditions, matchKeys } from './key-conditions.ts';
import { countOf, type PartMatches } from './key-matches.ts';
import { countFacets } from './match-facets.ts';
import { pageOfMatches } from './match-pages.ts';
import type { Matching } from './search-context.ts';
import { matchTexts } from './text-matcher.ts';
import { planMetadata, planTexts } from './text-plan.ts';

/** The engine that answers from Postgres alone, in the given snapshot (docs/adr/0002). */
export function createPostgresEngine(given: Partial<EngineTuning> = {}): SearchEngine {
  const tuning = { ...usualTuning, ...given };
  const cache = new ByteCache<SealedPart>(tuning.cacheBytesMax);
  const days = new BlockDays();
  const known = new KnownSegments();
  const search = async (
    snapshot: Snapshot,
    corpus: Matching['corpus'],
    bytesLeft = tuning.readBytesMax,
  ): Promise<Search> => {
    const budget = { bytesLeft };
    const { client } = snapshot;
    return { matching: { client, cache, tuning, corpus, budget }, segments: await known.read(snapshot) };
  };
  const textSearch = async (snapshot: Snapshot, matches: TextMatches): Promise<Found> => {
    const { readBytesMax, fuzzyBytesMax } = tuning;
    const bytes = matches.match === 'fuzzy' ? Math.min(fuzzyBytesMax, readBytesMax) : readBytesMax;
    const one = await search(snapshot, matches.corpus, bytes);
    return { ...one, texts: await textsOf(one, matches) };
  };
  const hashSearch = async (snapshot: Snapshot, { hash }: HashMatches): Promise<Found> => ({
    ...(await search(snapshot, 'content')),
    texts: await contentsOf(snapshot, hash),
  });
  const hits = async (
    { tip }: Snapshot,
    found: Found,
    query: SearchSlice & { filter?: SearchFilter },
  ): Promise<SearchHits> => ({ ...(await pageOf(found, query)), tip });
  const facets = async (
    { client, tip }: Snapshot,
    found: Found,
    filter?: SearchFilter,
  ): Promise<SearchFacets> => {
    const { columns, matches } = await matchesOf(found, filter);
    return { ...(await countFacets(columns, matches, await days.read(client, tip))), tip };
  };

  return {
    name: 'postgres',
    opening: segmentsVersion,
    searchText: async (snapshot, query: TextQuery) =>
      hits(snapshot, await textSearch(snapshot, query), query),
    searchHash: async (snapshot, query: HashQuery) =>
      hits(snapshot, await hashSearch(snapshot, query), query),
    facetsOfText: async (snapshot, matches) =>
      facets(snapshot, await textSearch(snapshot, matches), matches.filter),
    facetsOfHash: async (snapshot, matches) =>
      facets(snapshot, await hashSearch(snapshot, matches), matches.filter),
    close: () => Promise.resolve(),
  };
}

interface Search {
  readonly matching: Matching;
  readonly segments: Awaited<ReturnType<KnownSegments['read']>>;
}

/** `texts`: the matching texts of the corpus. Null: every inscription matches, with or without a text. */
interface Found extends Search {
  readonly texts: IdSet | null;
}

async function textsOf({ matching, segments }: Search, matches: TextMatches): Promise<IdSet | null> {
  const { corpus, match = 'substring', needles } = matches;
  if (needles.length === 0) return null;
  const plan = planTexts(match, needles);
  return plan === null ? new IdSet() : matchTexts(matching, segments[corpus], plan);
}

async function contentsOf({ client }: Snapshot, hash: Uint8Array): Promise<IdSet> {
  const { rows } = await client.query<{ content_id: number }>({
    name: 'search-hash',
    // two index lookups, because an OR of both would be planned as a scan if one side has few rows
    text: `SELECT content_id FROM chain.contents WHERE sha256 = $1
            UNION SELECT content_id FROM chain.contents WHERE decoded_sha256 = $1`,
    values: [Buffer.from(hash)],
  });
  const contents = new IdSet();
  for (const row of rows) contents.add(row.content_id);
  return contents;
}

const isPlain = (filter: SearchFilter | undefined): boolean =>
  filter === undefined || Object.values(filter).every((value) => value === undefined);

async function pageOf(
  found: Found,
  query: SearchSlice & { filter?: SearchFilter },
): Promise<Pick<SearchHits, 'keys' | 'totalItems'>> {
  const { matching, segments, texts } = found;
  const { sort = 'height', order = 'asc', page, itemsPerPage, after, filter } = query;
  if (texts !== null && isPlain(filter) && sort === 'height' && order === 'asc' && after === undefined) {
    const slice = { offset: (page - 1) * itemsPerPage, limit: itemsPerPage };
    return matchInscriptions(matching, segments.inscriptions, texts, slice);
  }
  const { columns, matches } = await matchesOf(found, filter);
  const lengths = new ContentLengths(matching, segments.lengths);
  const keys = await pageOfMatches(matching, columns, lengths, matches, query);
  return { keys, totalItems: countOf(matches) };
}

/** The matching inscriptions, with the columns that describe them. */
async function matchesOf(
  { matching, segments, texts }: Found,
  filter: SearchFilter = {},
): Promise<{ columns: KeyColumns; matches: readonly PartMatches[] }> {
  const { client, corpus } = matching;
  const nextKey = await readNextKey(matching);
  const columns = new KeyColumns(matching, segments.inscriptions, nextKey);
  const conditions = await filterConditions(matching, filter, nextKey);
  if (conditions === null) return { columns, matches: [] };
  const all: KeyConditions['texts'][number][] = [];
  if (texts !== null) all.push({ corpus, ids: texts });
  if (filter.metadata !== undefined) {
    const metadata = { ...matching, client, corpus: 'metadata' as const };
    const plan = planMetadata(filter.metadata);
    all.push({ corpus: 'metadata', ids: await matchTexts(metadata, segments.metadata, plan) });
  }
  return { columns, matches: await matchKeys(matching, columns, { ...conditions, texts: all }) };
}

async function readNextKey({ client }: Matching): Promise<number> {
  const { rows } = await client.query<{ next_key: number }>(
    'SELECT next_key FROM chain.blocks ORDER BY height DESC LIMIT 1',
  );
  return rows[0]?.next_key ?? 0;
}
