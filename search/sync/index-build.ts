import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { usualTuning } from '#search/elastic/server/elastic-tuning.ts';
import { type Marker, readMarker } from '#search/elastic/server/marker.ts';
import {
  createSearchIndex,
  finishLoading,
  pointReadAlias,
  readAlias,
} from '#search/elastic/server/search-index.ts';
import { deleteIndex, readCatalog } from './index-catalog.ts';
import { countInscriptions } from './index-documents.ts';
import { countFindable, readDatabaseIdentity, readOnlyMoment } from './outbox.ts';
import { choosePhrases } from './phrase-choice.ts';
import { placeMarker } from './placed-marker.ts';
import { IndexSync } from './sync-step.ts';

export interface IndexBuildOptions {
  readonly elastic: ElasticClient;
  readonly prefix: string;
  readonly network: NetworkName;
  readonly shards: number;
  readonly replicas: number;
  /** Connection that reads the chain and holds the lock `searchBuild`. */
  readonly chain: pg.ClientBase;
  readonly signal: AbortSignal;
  /** Maximum number of inscriptions in one step of the load. */
  readonly loadKeysMax?: number;
  readonly onProgress?: (progress: BuildProgress) => void;
  readonly onRetry?: (error: AppError) => void;
}

export interface BuildProgress {
  readonly index: string;
  readonly blocks: number;
  readonly blocksTotal: number;
  readonly inscriptions: number;
  /** Number of bytes of documents sent to Elasticsearch. */
  readonly bytes: number;
}

/**
 * Default number of inscriptions in one step. Copies within a step become one document, so a step is as large as the
 * span of a document. Postgres sorts four million rows of some 100 bytes, on its disk. An interrupted load resumes
 * after its last step.
 */
const loadKeysMaxDefault = usualTuning.spanKeys;

/**
 * Builds the next index from the tables while the current one still answers, and then points the read alias at the new
 * index. An interrupted build of this database and document version is resumed. Other leftovers and the previously
 * served index are deleted. Returns the name of the new index. Throws `nothing_indexed`.
 */
export async function buildIndex(options: IndexBuildOptions): Promise<string> {
  const { elastic, prefix, network, replicas, signal } = options;
  const index = await openBuild(options);
  const sync = await openSync(options, index);
  await catchUp(options, index, sync);
  await finishLoading(elastic, index, replicas);
  await verifyWhole(options, index, sync.marker);
  if (sync.marker.state === 'loading') await sync.mark({ state: 'complete' });
  // add blocks that arrived meanwhile, and make each visible at once
  await catchUp(options, index, sync);
  signal.throwIfAborted();
  const before = await readCatalog(elastic, prefix, network);
  await pointReadAlias(elastic, readAlias(prefix, network), index);
  if (before.served !== null && before.served !== index) await deleteIndex(elastic, before.served);
  return index;
}

/** The index of an interrupted build, or a new one. */
async function openBuild(options: IndexBuildOptions): Promise<string> {
  const { elastic, prefix, network, shards, replicas, chain, signal } = options;
  const database = await readDatabaseIdentity(chain);
  if (database === null)
    throw new AppError('nothing_indexed', 'There is nothing to search, because no block is indexed.');
  const { newer, older, nextName } = await readCatalog(elastic, prefix, network);
  let begun: string | null = null;
  for (const index of newer.toReversed()) {
    const placed = await readMarker(elastic, index);
    if (begun === null && placed?.marker.database === database) begun = index;
    else await deleteIndex(elastic, index);
  }
  for (const index of older) await deleteIndex(elastic, index);
  if (begun !== null) return begun;
  await createSearchIndex(elastic, nextName, { shards, replicas, loading: true });
  const marker: Marker = {
    state: 'loading',
    rewinds: 0,
    database,
    epoch: 0,
    sequence: 0,
    tip: null,
    nextKey: 0,
    phrases: await choosePhrases(chain, signal),
    isMerged: false,
  };
  await placeMarker(elastic, nextName, marker, null);
  return nextName;
}

async function openSync(options: IndexBuildOptions, index: string): Promise<IndexSync> {
  const { elastic, chain, signal, onRetry, loadKeysMax: keysMax = loadKeysMaxDefault } = options;
  const retry = onRetry === undefined ? {} : { onRetry };
  const sync = await IndexSync.open({ elastic, index, chain, signal, keysMax, ...retry });
  if (sync !== null) return sync;
  throw new AppError('search_engine_missing', `The marker of the index ${index} is missing.`, { index });
}

/**
 * Runs steps until nothing is left. If the index belongs to another database, it is deleted and the next build starts
 * again.
 */
async function catchUp(options: IndexBuildOptions, index: string, sync: IndexSync): Promise<void> {
  const { elastic, chain, signal, onProgress } = options;
  let bytes = 0;
  for (;;) {
    signal.throwIfAborted();
    const done = await sync.step().catch(async (error: unknown) => {
      if (error instanceof AppError && error.code === 'search_engine_foreign')
        await deleteIndex(elastic, index);
      throw error;
    });
    if (done.kind === 'nothing') return;
    bytes += done.bytes;
    if (onProgress !== undefined) {
      onProgress({
        index,
        bytes,
        inscriptions: done.marker.nextKey,
        ...(await blocksUpTo(chain, done.marker)),
      });
    }
  }
}

async function blocksUpTo(
  chain: pg.ClientBase,
  { sequence }: Marker,
): Promise<{ blocks: number; blocksTotal: number }> {
  const { rows } = await chain.query<{ total: number }>(
    'SELECT coalesce(max(sequence), 0) AS total FROM chain.outbox',
  );
  return { blocks: sequence, blocksTotal: rows[0]?.total ?? 0 };
}

/** Throws if the index does not have every findable inscription exactly once. */
async function verifyWhole(options: IndexBuildOptions, index: string, { nextKey }: Marker): Promise<void> {
  const { elastic, chain } = options;
  const findable = await withTransaction(chain, (tx) => countFindable(tx, 0, nextKey), readOnlyMoment);
  const counted = await countInscriptions(elastic, index, { from: 0, to: nextKey });
  if (counted === findable) return;
  await deleteIndex(elastic, index);
  const message = `${index} had only ${counted} of ${findable} inscriptions, and was deleted.`;
  throw new AppError('search_engine_failed', message, { index, counted, findable });
}
