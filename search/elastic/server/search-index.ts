import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { ElasticClient } from './elastic-client.ts';

/**
 * Version of the mapping, of the analysis and of the contents of documents. If any of these changes, a new index is
 * needed.
 */
export const mappingVersion = 5;

export interface IndexOptions {
  readonly shards: number;
  readonly replicas: number;
  /**
   * True during a first load. The index then has no refreshes and no replicas, and does not wait for the disk, until
   * `finishLoading`.
   */
  readonly loading: boolean;
}

const grams = { type: 'text', analyzer: 'grams', norms: false, index_options: 'positions' } as const;
/** Words split by our own rules (search/text/words.ts) and joined by blanks, so the server only splits at blanks. */
const words = { type: 'text', analyzer: 'whitespace', norms: false, index_options: 'docs' } as const;
/** A value that is only searched, so it has no column. */
const term = { type: 'keyword', doc_values: false, norms: false } as const;
const number = { type: 'integer' } as const;
/** A value that is only read or summed, so it has no index. */
const column = { type: 'integer', index: false } as const;

/** The fields of a document: docs/adr/0014 and documents/group-document.ts. */
export const mappings = {
  dynamic: 'strict',
  // texts are in Postgres, so only the marker is read back
  _source: { includes: ['marker'] },
  properties: {
    firstKey: number,
    lastKey: number,
    count: column,
    keys: column,
    sequence: { type: 'long' },
    member: { type: 'nested', properties: { key: column, day: column } },
    text: grams,
    shape: { type: 'keyword', norms: false },
    words,
    metadata: grams,
    metadataWords: words,
    title: grams,
    hashes: term,
    type: { type: 'keyword' },
    class: term,
    size: number,
    cursed: { type: 'boolean' },
    unnumbered: { type: 'boolean' },
    metaprotocol: term,
    parents: { type: 'integer', doc_values: false },
    metadataKeys: term,
    metadataValues: term,
    metadataPairs: term,
    traits: term,
    gallery: term,
    marker: { type: 'object', enabled: false },
  },
} as const;

const analysis = {
  tokenizer: { grams: { type: 'ngram', min_gram: 3, max_gram: 3 } },
  analyzer: { grams: { type: 'custom', tokenizer: 'grams' } },
} as const;

/** `<prefix>-<network>`: the alias that searches read. */
export const readAlias = (prefix: string, network: NetworkName): string => `${prefix}-${network}`;

export const indexName = (prefix: string, network: NetworkName, number_: number): string =>
  `${readAlias(prefix, network)}-v${mappingVersion}-${number_}`;

/**
 * The alias for writes. Every index has its own alias, so a write to a deleted index is refused instead of creating an
 * index without a mapping.
 */
export const writeAlias = (index: string): string => `${index}-write`;

/** Creates an index with its write alias. Throws `search_engine_rejected` if the index exists. */
export async function createSearchIndex(
  client: ElasticClient,
  index: string,
  { shards, replicas, loading }: IndexOptions,
): Promise<void> {
  await client.request({
    method: 'PUT',
    path: `/${index}`,
    body: {
      settings: {
        number_of_shards: shards,
        number_of_replicas: loading ? 0 : replicas,
        refresh_interval: '-1',
        ...(loading ? { 'translog.durability': 'async' } : {}),
        sort: { field: 'firstKey', order: 'asc' },
        analysis,
      },
      mappings,
      aliases: { [writeAlias(index)]: { is_write_index: true } },
    },
  });
}

/**
 * Ends a first load: makes everything durable and visible, with the requested replicas. Refreshes remain manual,
 * because the marker follows them.
 */
export async function finishLoading(
  client: ElasticClient,
  index: string,
  replicas: number,
  timeoutMs = 600_000,
): Promise<void> {
  await client.request({
    method: 'PUT',
    path: `/${index}/_settings`,
    body: { 'index.translog.durability': 'request', 'index.number_of_replicas': replicas },
  });
  await client.request({ method: 'POST', path: `/${index}/_flush`, timeoutMs });
  await refreshIndex(client, index);
}

/**
 * Lets the server merge the segments of a first load in the background. One segment is searched twice as fast as
 * thirty, and the data kept for replicas is dropped (half of a newly loaded index). The server keeps that data for half
 * a minute after the last write, so an earlier merge would copy it.
 */
export async function beginMerge(client: ElasticClient, index: string): Promise<void> {
  await client.request({
    method: 'POST',
    path: `/${index}/_forcemerge`,
    query: { max_num_segments: 1, wait_for_completion: false },
  });
}

/** Makes everything written so far visible to searches that start from now on. */
export async function refreshIndex(client: ElasticClient, index: string): Promise<void> {
  const { _shards: shards } = await client.request<{ _shards: { failed: number } }>({
    method: 'POST',
    path: `/${index}/_refresh`,
  });
  assertShards(shards, index);
}

/** Throws for a partial answer, because it is treated as no answer. */
export function assertShards(shards: { failed: number } | undefined, index: string): void {
  if (shards === undefined || shards.failed === 0) return;
  throw new AppError('search_engine_failed', `${shards.failed} shards of ${index} did not answer.`, {
    index,
  });
}

/** Points the read alias to one index in one step and removes it from every other index. */
export async function pointReadAlias(client: ElasticClient, alias: string, index: string): Promise<void> {
  await client.request({
    method: 'POST',
    path: '/_aliases',
    body: {
      actions: [{ remove: { index: `${alias}-*`, alias, must_exist: false } }, { add: { index, alias } }],
    },
  });
}
