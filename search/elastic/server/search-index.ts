import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { ElasticClient } from './elastic-client.ts';

/**
 * The version of the mapping, of the analysis and of what documents hold. A change of any of them needs a new index.
 */
export const mappingVersion = 5;

export interface IndexOptions {
  readonly shards: number;
  readonly replicas: number;
  /** A first load runs without refreshes, replicas and waiting for the disk, until `finishLoading`. */
  readonly loading: boolean;
}

const grams = { type: 'text', analyzer: 'grams', norms: false, index_options: 'positions' } as const;
/** Our own words (search/text/words.ts), joined by blanks: the server only splits them. */
const words = { type: 'text', analyzer: 'whitespace', norms: false, index_options: 'docs' } as const;
/** A value that is only looked up, so it has no column. */
const term = { type: 'keyword', doc_values: false, norms: false } as const;
const number = { type: 'integer' } as const;
/** A value that is only read or summed, so it has no index. */
const column = { type: 'integer', index: false } as const;

/** The fields of a document: docs/adr/0014 and documents/group-document.ts. */
export const mappings = {
  dynamic: 'strict',
  // texts are in Postgres; only the marker is read back
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
 * The alias that writes go through. Every index has its own: a write to a deleted index is refused, instead of
 * creating an index without a mapping.
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
 * Ends a first load: everything is on disk and visible, with the requested replicas. Refreshes stay ours, because the
 * marker follows them.
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
 * Lets the server merge the segments of a first load in the background: one segment is searched twice as fast as
 * thirty, and the data kept for replicas is dropped (half of a newly loaded index). The server keeps that for half a
 * minute after the last write; an earlier merge would copy it.
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

/** A partial answer counts as none. */
export function assertShards(shards: { failed: number } | undefined, index: string): void {
  if (shards === undefined || shards.failed === 0) return;
  throw new AppError('search_engine_failed', `${shards.failed} shards of ${index} did not answer.`, {
    index,
  });
}

/** Points the read alias at one index in one step; every other index loses it. */
export async function pointReadAlias(client: ElasticClient, alias: string, index: string): Promise<void> {
  await client.request({
    method: 'POST',
    path: '/_aliases',
    body: {
      actions: [{ remove: { index: `${alias}-*`, alias, must_exist: false } }, { add: { index, alias } }],
    },
  });
}
