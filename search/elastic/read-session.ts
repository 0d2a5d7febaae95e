import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { PhraseBook } from './phrases/phrase-book.ts';
import { countShapes, type ShapeCounts } from './phrases/shapes.ts';
import type { Clause, Search } from './server/clause.ts';
import type { ElasticClient } from './server/elastic-client.ts';
import { type ElasticTuning, usualTuning } from './server/elastic-tuning.ts';
import { type Marker, readMarker } from './server/marker.ts';
import { assertShards } from './server/search-index.ts';

/** A marker whose index is complete, and a moment of the index that holds everything that it speaks of. */
export interface ReadMoment {
  readonly marker: Marker & { readonly tip: NonNullable<Marker['tip']> };
  /** Of the marker's phrases. */
  readonly book: PhraseBook;
  /**
   * How many inscriptions have texts of each combination of phrases. Null: there are too many combinations, or they are not counted
   * yet: the first call begins to count, and no search waits for it.
   */
  shapes(): ShapeCounts | null;
  /** Asks in that moment, of documents up to the marker. Throws `search_engine_missing` where the server has forgotten it. */
  readonly search: Search;
}

/** Names the database of a snapshot as markers do; null: nothing was ever indexed into it. */
export type DatabaseReader = (client: Snapshot['client']) => Promise<string | null>;

/** Between two questions the server keeps a moment so long; while nobody asks it may forget it, and another is opened. */
const keepAlive = '2m';
/** A search is ended by the server before the client gives up waiting. */
const searchTimeout = '25s';

interface SearchAnswer {
  readonly timed_out: boolean;
  readonly _shards: { readonly failed: number };
  readonly pit_id?: string;
}

interface OpenMoment extends Pick<ReadMoment, 'marker' | 'book'> {
  readonly id: string;
  readonly index: string;
  /** It holds documents of keys that the marker does not speak of. */
  readonly holdsMore: boolean;
  /** It is of the database that asks. */
  isOurs: boolean;
  /** Null: not counted, or too many. */
  shapes: ShapeCounts | null;
  hasCounted: boolean;
  users: number;
  isReplaced: boolean;
}

/**
 * Gives searches a moment of the index to ask in. One is shared by all searches until the marker has moved on, so that most
 * searches are one request.
 *
 * The marker is read before the moment is opened and again afterwards. The first tells that everything up to it is visible
 * in the moment, on every shard: the marker is written after the documents were refreshed. The second tells that nobody
 * had begun to take blocks back until then: that is written before documents are changed. Documents beyond the marker are
 * left out by their keys.
 */
export class ReadSession {
  readonly #client: ElasticClient;
  readonly #alias: string;
  readonly #readDatabase: DatabaseReader;
  readonly #shapesMax: number;
  #current: OpenMoment | null = null;
  #opening: Promise<OpenMoment> | null = null;

  constructor(
    client: ElasticClient,
    alias: string,
    readDatabase: DatabaseReader,
    { shapesMax }: Pick<ElasticTuning, 'shapesMax'> = usualTuning,
  ) {
    this.#client = client;
    this.#alias = alias;
    this.#readDatabase = readDatabase;
    this.#shapesMax = shapesMax;
  }

  /**
   * Runs `ask` in a moment that speaks of the chain that the snapshot sees: its tip, or a block below it. Throws
   * `search_engine_behind` where the index is not of that chain now.
   */
  async run<Result>(
    snapshot: Snapshot & { readonly tip: NonNullable<Snapshot['tip']> },
    ask: (moment: ReadMoment) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.#runOnce(snapshot, ask);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'search_engine_missing') throw error;
      // forgotten by the server, or the alias names another index by now
      this.#retire(this.#current);
      return this.#runOnce(snapshot, ask);
    }
  }

  async #runOnce<Result>(
    snapshot: Snapshot & { readonly tip: NonNullable<Snapshot['tip']> },
    ask: (moment: ReadMoment) => Promise<Result>,
  ): Promise<Result> {
    const known = this.#current;
    const moment = known !== null && isOfTip(known.marker, snapshot.tip) ? known : await this.#open();
    moment.users++;
    try {
      await this.#assertOurs(snapshot, moment);
      await assertChain(snapshot, moment.marker);
      const { signal } = snapshot;
      return await ask({
        marker: moment.marker,
        book: moment.book,
        shapes: () => this.#shapesOf(moment),
        search: (body, clauses) => searchMoment(this.#client, moment, { body, clauses, signal }),
      });
    } finally {
      this.#leave(moment);
    }
  }

  /** Counted once a moment, in the background: until then searches name shapes by a pattern, which is slower and as exact. */
  #shapesOf(moment: OpenMoment): ShapeCounts | null {
    if (!moment.hasCounted) {
      moment.hasCounted = true;
      void this.#countShapes(moment);
    }
    return moment.shapes;
  }

  async #countShapes(moment: OpenMoment): Promise<void> {
    moment.users++;
    const search: Search = (body, clauses) =>
      searchMoment(this.#client, moment, { body, clauses, signal: undefined });
    try {
      moment.shapes = await countShapes(search, this.#shapesMax);
    } catch {
      // what keeps the server from counting, searches meet too and say; the next one begins anew
      moment.hasCounted = false;
    } finally {
      this.#leave(moment);
    }
  }

  #leave(moment: OpenMoment): void {
    moment.users--;
    if (moment.isReplaced && moment.users === 0) this.#forget(moment);
  }

  /** Keys mean what they mean in the database that the documents were made from: asked once a moment. */
  async #assertOurs({ client }: Snapshot, moment: OpenMoment): Promise<void> {
    if (moment.isOurs) return;
    if ((await this.#readDatabase(client)) !== moment.marker.database) {
      throw behind('Elasticsearch has the index of another database.');
    }
    moment.isOurs = true;
  }

  /** Opens a moment; searches that come together share one. */
  #open(): Promise<OpenMoment> {
    this.#opening ??= this.#openMoment().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #openMoment(): Promise<OpenMoment> {
    const { marker: before, index } = await this.#marker();
    const current = this.#current;
    if (current !== null && current.index === index && isSame(current.marker, before)) return current;
    // of the index that the marker is of: the alias may name the next one by now, with other phrases
    const { id } = await this.#client.request<{ id: string }>({
      method: 'POST',
      path: `/${index}/_pit`,
      query: { keep_alive: keepAlive, allow_partial_search_results: false },
    });
    const { marker: after, index: indexAfter } = await this.#marker();
    if (index !== indexAfter || before.rewinds !== after.rewinds || before.database !== after.database) {
      throw behind('Blocks are being taken back in Elasticsearch, or its index was replaced.');
    }
    const moment: OpenMoment = {
      marker: before,
      index,
      book: bookOf(before.phrases, current),
      id,
      holdsMore: await holdsBeyond(this.#client, id, before),
      isOurs: false,
      shapes: null,
      hasCounted: false,
      users: 0,
      isReplaced: false,
    };
    this.#retire(this.#current);
    this.#current = moment;
    return moment;
  }

  async #marker(): Promise<Pick<OpenMoment, 'marker' | 'index'>> {
    const { marker, index } = (await readMarker(this.#client, this.#alias)) ?? {};
    if (index === undefined || marker?.tip == null) throw behind('Elasticsearch has no documents yet.');
    if (marker.state !== 'complete') throw behind('Blocks are being taken back in Elasticsearch.');
    return { marker: { ...marker, tip: marker.tip }, index };
  }

  #retire(moment: OpenMoment | null): void {
    if (moment === null) return;
    if (this.#current === moment) this.#current = null;
    moment.isReplaced = true;
    if (moment.users === 0) this.#forget(moment);
  }

  /** Best effort: the server forgets it by itself. */
  #forget({ id }: OpenMoment): void {
    this.#client.request({ method: 'DELETE', path: '/_pit', body: { id } }).catch(() => undefined);
  }

  async close(): Promise<void> {
    const { id } = this.#current ?? {};
    this.#current = null;
    if (id === undefined) return;
    await this.#client.request({ method: 'DELETE', path: '/_pit', body: { id } }).catch(() => undefined);
  }
}

interface Asked {
  readonly body: Readonly<Record<string, unknown>>;
  readonly clauses: readonly Clause[];
  /** Ends the request, and what the server does for it. */
  readonly signal: AbortSignal | undefined;
}

async function searchMoment<Answer>(
  client: ElasticClient,
  { id, marker, holdsMore }: OpenMoment,
  { body, clauses, signal }: Asked,
): Promise<Answer> {
  const answer = await client.request<Answer & SearchAnswer>({
    method: 'POST',
    path: '/_search',
    query: { allow_partial_search_results: false },
    signal,
    body: {
      pit: { id, keep_alive: keepAlive },
      timeout: searchTimeout,
      track_total_hits: false,
      _source: false,
      query: { bool: { filter: holdsMore ? [...clauses, upTo(marker)] : clauses } },
      ...body,
    },
  });
  if (answer.timed_out) {
    throw new AppError('search_engine_slow', `Elasticsearch did not search within ${searchTimeout}.`, {});
  }
  assertShards(answer._shards, 'the index');
  return answer;
}

/** A book is made once for an index, not for each of its blocks. */
function bookOf(phrases: readonly string[], before: OpenMoment | null): PhraseBook {
  const isKnown =
    before?.marker.phrases.length === phrases.length &&
    before.marker.phrases.every((phrase, at) => phrase === phrases[at]);
  return isKnown ? before.book : new PhraseBook(phrases);
}

const upTo = ({ nextKey }: Marker): Clause => ({ range: { firstKey: { lt: nextKey } } });

/** Asked once a moment: a range that every document is in costs each search more than its needles. */
async function holdsBeyond(client: ElasticClient, id: string, { nextKey }: Marker): Promise<boolean> {
  const {
    hits,
    timed_out: isLate,
    _shards: shards,
  } = await client.request<SearchAnswer & { readonly hits: { readonly total: { readonly value: number } } }>({
    method: 'POST',
    path: '/_search',
    query: { allow_partial_search_results: false },
    body: {
      pit: { id, keep_alive: keepAlive },
      timeout: searchTimeout,
      size: 0,
      track_total_hits: 1,
      query: { bool: { filter: [{ range: { firstKey: { gte: nextKey } } }] } },
    },
  });
  assertShards(shards, 'the index');
  // what it does not know is left out by each search
  return isLate || hits.total.value > 0;
}

const behind = (message: string): AppError => new AppError('search_engine_behind', message, {});

const isOfTip = ({ tip, epoch }: ReadMoment['marker'], wanted: NonNullable<Snapshot['tip']>): boolean =>
  epoch === wanted.undoEpoch && tip.height === wanted.height && tip.hash === displayHash(wanted.hash);

const isSame = (a: Marker, b: Marker): boolean =>
  a.database === b.database &&
  a.rewinds === b.rewinds &&
  a.epoch === b.epoch &&
  a.sequence === b.sequence &&
  a.tip?.hash === b.tip?.hash &&
  a.nextKey === b.nextKey;

/** Throws unless the marker's block is in the chain of the snapshot, with the keys that the snapshot has. */
async function assertChain(
  { client, tip }: Snapshot & { readonly tip: NonNullable<Snapshot['tip']> },
  marker: ReadMoment['marker'],
): Promise<void> {
  if (marker.epoch !== tip.undoEpoch) throw behind('Elasticsearch is not at the same chain as the database.');
  if (isOfTip(marker, tip)) return;
  const { rows } = await client.query<{ hash: Buffer; next_key: number }>(
    'SELECT hash, next_key FROM chain.blocks WHERE height = $1',
    [marker.tip.height],
  );
  const [row] = rows;
  const isThere = row !== undefined && displayHash(row.hash) === marker.tip.hash;
  if (!isThere || row.next_key !== marker.nextKey) {
    throw behind('Elasticsearch is not at the same chain as the database.');
  }
}
