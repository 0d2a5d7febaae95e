import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHash, displayHash } from '#kernel/primitives/hash.ts';
import { PhraseBook } from '../phrases/phrase-book.ts';
import { countShapes, type ShapeCounts } from '../phrases/shapes.ts';
import type { Clause, Search } from '../server/clause.ts';
import type { ElasticClient } from '../server/elastic-client.ts';
import { type ElasticTuning, usualTuning } from '../server/elastic-tuning.ts';
import { type Marker, readMarker } from '../server/marker.ts';
import { assertShards } from '../server/search-index.ts';

/** A complete marker, and a point in time of its index that contains everything up to the marker. */
export interface ReadMoment {
  readonly marker: Marker & { readonly tip: NonNullable<Marker['tip']> };
  /** The phrases of the marker. */
  readonly book: PhraseBook;
  /**
   * Number of inscriptions for each combination of phrases. Null: there are too many combinations, or they have not
   * been counted. The first call starts the count in the background.
   */
  shapes(): ShapeCounts | null;
  /**
   * Searches in that moment, among documents up to the marker. Throws `search_engine_missing` if the server has dropped
   * the moment.
   */
  readonly search: Search;
}

/** Reads the name of a snapshot's database, as markers contain it. Null: the database never had a block. */
export type DatabaseReader = (client: Snapshot['client']) => Promise<string | null>;

/** How long the server keeps an unused moment. After that, another moment is opened. */
const keepAlive = '2m';
/** How long a search may take on the server. The server ends it before the client stops waiting. */
const searchTimeout = '25s';

interface SearchAnswer {
  readonly timed_out: boolean;
  readonly _shards: { readonly failed: number };
  readonly pit_id?: string;
}

interface OpenMoment extends Pick<ReadMoment, 'marker' | 'book'> {
  readonly id: string;
  readonly index: string;
  /** Whether the moment contains documents with keys after the marker's keys. */
  readonly holdsMore: boolean;
  /** Whether the moment belongs to the database of the searches. */
  isOurs: boolean;
  /** Null: not counted yet, or too many shapes. */
  shapes: ShapeCounts | null;
  hasCounted: boolean;
  users: number;
  isReplaced: boolean;
}

/**
 * Gives searches a moment (a point in time) of the index. All searches share it until the marker moves, so most
 * searches are one request.
 *
 * The marker is read before the moment is opened and again afterwards. The first read proves that everything up to the
 * marker is visible in the moment, on every shard, because documents are refreshed before the marker is written. The
 * second read proves that no undo had begun by then, because an undo marks its start before it changes documents.
 * Documents after the marker are excluded by their keys.
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
   * Runs `ask` in a moment on the snapshot's chain: at its tip or at a lower block. Throws `search_engine_behind` if
   * the index is not on that chain.
   */
  async run<Result>(
    snapshot: Snapshot & { readonly tip: NonNullable<Snapshot['tip']> },
    ask: (moment: ReadMoment) => Promise<Result>,
  ): Promise<Result> {
    try {
      return await this.#runOnce(snapshot, ask);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'search_engine_missing') throw error;
      // the server has dropped the moment, or the alias names another index now
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

  /**
   * Starts the count of shapes once per moment, in the background. Until it ends, searches match shapes by a pattern,
   * which is slower but as exact.
   */
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
      // ignore the failure: searches get and report the same failure, and the next search starts the count again
      moment.hasCounted = false;
    } finally {
      this.#leave(moment);
    }
  }

  #leave(moment: OpenMoment): void {
    moment.users--;
    if (moment.isReplaced && moment.users === 0) this.#forget(moment);
  }

  /**
   * Throws if the documents were made from another database, because keys depend on the database. Checked once per
   * moment.
   */
  async #assertOurs({ client }: Snapshot, moment: OpenMoment): Promise<void> {
    if (moment.isOurs) return;
    if ((await this.#readDatabase(client)) !== moment.marker.database) {
      throw behind('Elasticsearch has the index of another database.');
    }
    moment.isOurs = true;
  }

  /** Opens a moment. Concurrent searches share one moment. */
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
    // open the marker's own index, because the alias may already name the next index, which has other phrases
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

  /** Closes a moment without waiting. A failure does no harm, because the server drops the moment after `keepAlive`. */
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
  /** Cancels the request, and its work on the server. */
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

/** Returns the known book if the phrases are the same, because a book is made once per index, not for each block. */
function bookOf(phrases: readonly string[], before: OpenMoment | null): PhraseBook {
  const isKnown =
    before?.marker.phrases.length === phrases.length &&
    before.marker.phrases.every((phrase, at) => phrase === phrases[at]);
  return isKnown ? before.book : new PhraseBook(phrases);
}

const upTo = ({ nextKey }: Marker): Clause => ({ range: { firstKey: { lt: nextKey } } });

/**
 * Whether a moment has documents after the marker. Checked once per moment, because a range over all documents costs a
 * search more than its needles.
 */
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
  // searches exclude documents after the marker
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

/** Throws if the snapshot's chain does not contain the marker's block with the same keys. */
async function assertChain(
  { client, tip }: Snapshot & { readonly tip: NonNullable<Snapshot['tip']> },
  marker: ReadMoment['marker'],
): Promise<void> {
  if (marker.epoch !== tip.undoEpoch)
    throw behind('Elasticsearch does not have the same chain as the database.');
  if (isOfTip(marker, tip)) return;
  const { rows } = await client.query<{ hash: BlockHash; next_key: number }>(
    'SELECT hash, next_key FROM chain.blocks WHERE height = $1',
    [marker.tip.height],
  );
  const [row] = rows;
  const isThere = row !== undefined && displayHash(row.hash) === marker.tip.hash;
  if (!isThere || row.next_key !== marker.nextKey) {
    throw behind('Elasticsearch does not have the same chain as the database.');
  }
}
