import { AppError } from '#kernel/errors/app-error.ts';
import { bulkDocuments } from '#search/elastic/documents/bulk-documents.ts';
import { tombstone } from '#search/elastic/documents/group-document.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { assertShards, refreshIndex } from '#search/elastic/server/search-index.ts';

/** Maximum number of ids in memory at once. */
const idsMax = 5000;

interface SearchAnswer {
  readonly timed_out: boolean;
  readonly _shards: { readonly failed: number };
  readonly hits: { readonly hits: readonly { readonly _id: string; readonly sort: readonly number[] }[] };
  readonly aggregations?: { readonly count: { readonly value: number } };
}

/** Reads the state of the last refresh. Throws if the answer is partial. */
async function ask(
  client: ElasticClient,
  index: string,
  body: Readonly<Record<string, unknown>>,
): Promise<SearchAnswer> {
  const answer = await client.request<SearchAnswer>({
    method: 'POST',
    path: `/${index}/_search`,
    query: { allow_partial_search_results: false },
    body: { _source: false, track_total_hits: false, ...body },
  });
  assertShards(answer._shards, index);
  return answer;
}

/**
 * The number of inscriptions in documents with first keys from `from` to below `to`, as of the last refresh. Documents
 * of a step only have keys of that step, so the number shows whether each inscription is present exactly once.
 */
export async function countInscriptions(
  client: ElasticClient,
  index: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<number> {
  const { aggregations } = await ask(client, index, {
    size: 0,
    query: { range: { firstKey: { gte: from, lt: to } } },
    aggs: { count: { sum: { field: 'count' } } },
  });
  return aggregations?.count.value ?? 0;
}

/**
 * The smallest first key below `nextKey` of a document that also has keys from `nextKey` on, as of the last refresh.
 * Null: there is no such document.
 */
export async function firstStraddlingKey(
  client: ElasticClient,
  index: string,
  nextKey: number,
): Promise<number | null> {
  const { hits } = await ask(client, index, {
    size: 1,
    sort: [{ firstKey: 'asc' }],
    query: {
      bool: {
        filter: [{ range: { firstKey: { lt: nextKey } } }, { range: { lastKey: { gte: nextKey } } }],
      },
    },
  });
  return hits.hits[0]?.sort[0] ?? null;
}

/**
 * Deletes the documents with first keys from `nextKey` on. They come from interrupted steps, and from blocks that were
 * taken back. Each is replaced by a tombstone with a version, so that a late write of an older version does not restore
 * the document.
 */
export async function removeFrom(
  client: ElasticClient,
  index: string,
  nextKey: number,
  version: number,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (;;) {
    await refreshIndex(client, index);
    const { hits } = await ask(client, index, {
      size: idsMax,
      sort: [{ firstKey: 'asc' }],
      query: { range: { firstKey: { gte: nextKey } } },
    });
    if (hits.hits.length === 0) return removed;
    const tombstones = hits.hits.map(({ _id: id }) => tombstone(id, version));
    const { documents } = await bulkDocuments(client, index, tombstones, { signal });
    if (documents === 0) throw newerThanOutbox(index, version);
    removed += documents;
  }
}

/**
 * The error if the index has newer versions than the outbox. Versions come from the outbox, which only grows. So the
 * index was made from another history of this database, for example before a backup was restored.
 */
export function newerThanOutbox(index: string, version: number): AppError {
  const message = `Documents of ${index} are newer than row ${version}, the last one of the outbox.`;
  return new AppError('search_engine_foreign', message, { index, version });
}
