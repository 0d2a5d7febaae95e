import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { SearchDemand } from '#kernel/concurrency/search-demand.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type {
  HashMatches,
  SearchEngine,
  SearchFilter,
  Snapshot,
  TextMatches,
} from '#kernel/contracts/search-engine.ts';
import type {
  Answer,
  CountedFacets,
  FacetsQuestion,
  FirstOfHash,
  HashSearch,
  PendingAnswer,
  RecordPage,
  SearchService,
  Suggestion,
  TextPage,
  TextSearch,
} from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { matchPendingHash, matchPendingTexts, pendingRevision } from '#search/pending/pending-matcher.ts';
import { lookUpPending } from '#search/pending/pending-records.ts';
import { lookUpRecord, recordsOfKeys } from '#search/records/records.ts';
import { type ReadQuestion, readQuestion } from '#search/text/text-question.ts';
import { readPage } from './search-page.ts';
import { isTimeout, suggestionGate, suggestWords, typedEnd } from './suggest-words.ts';

export interface SearchServiceOptions {
  readonly pool: pg.Pool;
  readonly engine: SearchEngine;
  /** Limits concurrent searches. Absent: the default gate. */
  readonly gate?: FairGate;
  /** Is told about every search, so that background work waits. Absent: no work waits. */
  readonly demand?: SearchDemand;
}

/**
 * Maximum number of concurrent searches. Ten connections serve all reads (kernel/pg/pool.ts). Six for searches leave
 * four for pages, contents and lookups, which take a millisecond each.
 */
const runningMax = 6;
/**
 * Maximum number of waiting searches: as many as requests that are answered at once (http/server/limits.ts), so that no
 * search is refused because of their number. They take five rounds of running searches, so the waiting time is limited
 * instead.
 */
const waitingMax = 32;
/** How long a search may wait, in ms. After that the client has closed the page, or asks again. */
const waitMs = 10_000;

/** The gate of all searches of a process. */
export const searchGate = (): FairGate =>
  new FairGate({ running: runningMax, waiting: waitingMax, waitMs, refusal: busy });

function busy(): AppError {
  return new AppError('search_busy', 'too many searches like this are running; try again in a few seconds');
}

/** Searches for the routes: the engine finds inscriptions, and their records are read in the same snapshot. */
export function createSearchService({
  pool,
  engine,
  gate = searchGate(),
  demand,
}: SearchServiceOptions): SearchService {
  const searched: Searched = (asker, read) => {
    const search = (): ReturnType<typeof read> =>
      gate.run(asker, () => readAgain(() => withSnapshot(pool, read, asker?.signal ?? null, engine.opening)));
    return demand === undefined ? search() : demand.during(search);
  };
  const suggestions = new FairGate({ ...suggestionGate, refusal: busy });
  return {
    textSearch: (search) => searchText(engine, searched, search),
    hashSearch: (search) => searchHash(engine, searched, search),
    facets: (question) => countFacets(engine, searched, question),

    suggest: (text, asker) =>
      suggestions.run(asker, async () => {
        const { before, beginning } = typedEnd(text);
        const read = async (snapshot: Snapshot): Promise<Answer<Suggestion>> => {
          const words = await suggestWords(engine, snapshot, { before, beginning });
          return { tip: snapshot.tip, value: { before, words } };
        };
        const tooSlow = { tip: null, value: { before, words: [] } };
        return withSnapshot(pool, read, asker?.signal ?? null).catch((error: unknown) =>
          isTimeout(error) ? tooSlow : Promise.reject(error as Error),
        );
      }),

    hashes: (hashes, asker) =>
      searched(asker, async ({ client, tip }) => ({ tip, value: await firstOfHashes(client, hashes) })),

    inscription: (id, pending = false, asker) =>
      withSnapshot(
        pool,
        async ({ client, tip }) => {
          const record = await lookUpRecord(client, id);
          if (!pending) return { tip, value: record, mempoolRevision: null };
          const mempoolRevision = await pendingRevision(client);
          return { tip, value: record ?? (await lookUpPending(client, id)), mempoolRevision };
        },
        asker?.signal ?? null,
      ),
  };
}

/** Runs a search of one moment as soon as the gate admits it. */
type Searched = <T>(asker: Asker | undefined, read: (snapshot: Snapshot) => Promise<T>) => Promise<T>;

async function searchText(
  engine: SearchEngine,
  searched: Searched,
  { corpus, text, match, phrase, highlight = false, asker, ...paging }: TextSearch,
): Promise<PendingAnswer<TextPage>> {
  const { filter } = paging;
  const asked = readQuestion({ text, match, phrase }, filter);
  const matches = textMatches(corpus, asked, filter);
  const field = corpus === 'content' ? 'contentstr' : 'metadatastr';
  return searched(asker, async (snapshot) => {
    const read = await readPage(snapshot, {
      name: nameOf(matches, paging),
      paging,
      search: (slice) => engine.searchText(snapshot, { ...matches, ...slice }),
      facets: () => engine.facetsOfText(snapshot, matches),
      matchPending: (slice) => matchPendingTexts(snapshot.client, matches, slice),
      highlight: highlight ? { looked: { match: asked.match, needles: asked.folded }, field } : null,
    });
    return { ...read, value: { ...read.value, needles: asked.needles } };
  });
}

function searchHash(
  engine: SearchEngine,
  searched: Searched,
  { hash, asker, ...paging }: HashSearch,
): Promise<PendingAnswer<RecordPage>> {
  const matches = hashMatches(hash, paging.filter);
  return searched(asker, (snapshot) =>
    readPage(snapshot, {
      name: nameOf(matches, paging),
      paging,
      search: (slice) => engine.searchHash(snapshot, { ...matches, ...slice }),
      facets: () => engine.facetsOfHash(snapshot, matches),
      matchPending: (slice) => matchPendingHash(snapshot.client, matches, slice),
      highlight: null,
    }),
  );
}

async function countFacets(
  engine: SearchEngine,
  searched: Searched,
  { filter, asker, ...question }: FacetsQuestion,
): Promise<Answer<CountedFacets>> {
  if ('hash' in question) {
    const matches = hashMatches(question.hash, filter);
    return searched(asker, async (snapshot) => {
      const { tip, ...counted } = await engine.facetsOfHash(snapshot, matches);
      return { tip, value: { ...counted, needles: [] } };
    });
  }
  const asked = readQuestion(question, filter);
  const matches = textMatches(question.corpus, asked, filter);
  return searched(asker, async (snapshot) => {
    const { tip, ...counted } = await engine.facetsOfText(snapshot, matches);
    return { tip, value: { ...counted, needles: asked.needles } };
  });
}

/**
 * Maximum number of snapshots in which a search is tried, and the pause between them in ms. A reorganisation is applied
 * within some tenths of a second.
 */
const snapshotsMax = 3;
const againPauseMs = 150;

/**
 * Reads again in a later snapshot if the engine and the snapshot were on different chains, so that results of one
 * moment are never shown with rows of another.
 */
async function readAgain<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      const isBehind = error instanceof AppError && error.code === 'search_engine_behind';
      if (!isBehind || attempt === snapshotsMax) throw error;
      await delay(againPauseMs);
    }
  }
}

function textMatches(corpus: TextMatches['corpus'], asked: ReadQuestion, filter?: SearchFilter): TextMatches {
  const match = asked.match === 'substring' ? {} : { match: asked.match };
  return { corpus, ...match, needles: asked.folded, ...(filter === undefined ? {} : { filter }) };
}

function hashMatches(hash: Uint8Array, filter?: SearchFilter): HashMatches {
  return { hash, ...(filter === undefined ? {} : { filter }) };
}

/** The name of a search. It is equal for equal searches, in every process, because cursors contain it. */
function nameOf(
  matches: TextMatches | HashMatches,
  { sort = 'height', order = 'asc' }: { readonly sort?: string; readonly order?: string },
): string {
  return `search ${sort} ${order} ${JSON.stringify(matches, hexOfBytes)}`;
}

function hexOfBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

/**
 * The first inscription of each content, by the sha256 of its stored or decoded bytes, as a record without texts
 * (`contentstr` and `metadatastr` are null). One statement finds all inscriptions and another reads the records,
 * however many inscriptions share a content.
 */
async function firstOfHashes(client: pg.ClientBase, hashes: readonly Uint8Array[]): Promise<FirstOfHash[]> {
  const distinct = new Map(hashes.map((hash) => [Buffer.from(hash).toString('hex'), Buffer.from(hash)]));
  const { rows } = await client.query<{ hash: Buffer; key: InscriptionKey | null }>(
    `SELECT hash, min(first_key) AS key
       FROM (SELECT sha256 AS hash, first_key FROM chain.contents WHERE sha256 = ANY($1)
              UNION SELECT decoded_sha256, first_key FROM chain.contents WHERE decoded_sha256 = ANY($1)) AS found
      GROUP BY hash`,
    [[...distinct.values()]],
  );
  const keys = rows.flatMap((row) => (row.key === null ? [] : [row.key]));
  const records = await recordsOfKeys(client, [...new Set(keys)], { content: 0, metadata: 0 });
  const recordOfKey = new Map([...new Set(keys)].map((key, index) => [key, records[index]]));
  const firstOf = new Map(
    rows.map(({ hash, key }) => [hash.toString('hex'), key === null ? undefined : recordOfKey.get(key)]),
  );
  return hashes.map((hash) => ({ hash, first: firstOf.get(Buffer.from(hash).toString('hex')) ?? null }));
}
