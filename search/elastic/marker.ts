import { AppError } from '#kernel/errors/app-error.ts';
import type { ElasticClient } from './elastic-client.ts';
import { writeAlias } from './search-index.ts';

/**
 * How far the documents of an index go: all that is believed about it. It lies in the index itself, so that one that was wiped, or
 * restored from an old snapshot, says truly where it stands. It is written after all that it speaks of was refreshed; `undoing` is
 * written, before any document is changed, when blocks are taken back.
 *
 * While `rewinds` stays the same `nextKey` only grows, and what documents say of keys below it does not change. They may hold keys from
 * `nextKey` on: of a batch that is being written or was cut off. Readers leave those out, and take the marker again when they are done
 * (a GET by id, which is of this moment): where `rewinds` or the index behind the alias is another one, the answer is void.
 */
export interface Marker {
  /** `loading`: a first load goes on, and nobody reads it. */
  readonly state: 'loading' | 'complete' | 'undoing';
  /** Grows whenever `nextKey` becomes smaller. */
  readonly rewinds: number;
  /** Names the database (chain.state.fingerprint_key): keys of another one mean other inscriptions. */
  readonly database: string;
  /** chain.state.undo_epoch */
  readonly epoch: number;
  /** Of the outbox: everything up to it is in. */
  readonly sequence: number;
  /** The last block at that moment, its hash in display order. Null: no block. */
  readonly tip: { readonly height: number; readonly hash: string } | null;
  /** The first key that no document up to the marker holds. */
  readonly nextKey: number;
  /** Of the texts of all documents (./phrase-book.ts), folded: chosen when the index was begun. */
  readonly phrases: readonly string[];
  /** The server was told to merge what the first load has left. */
  readonly isMerged: boolean;
}

export const markerId = 'marker';

/** A marker as it was read: one of older documents says less. */
export const wholeMarker = (marker: Marker): Marker => ({ ...notOfOld, ...marker });

const notOfOld = { phrases: [], isMerged: false } as const;

/**
 * Reads the marker as it stands now, not as of the last refresh, and the name of the index that an alias stands for; null: none was
 * written. Throws `search_engine_missing`.
 */
export async function readMarker(
  client: ElasticClient,
  alias: string,
): Promise<{ readonly marker: Marker; readonly index: string } | null> {
  try {
    const { _source: source, _index: index } = await client.request<{
      _index: string;
      _source?: { marker?: Marker };
    }>({
      method: 'GET',
      path: `/${alias}/_doc/${markerId}`,
    });
    return source?.marker === undefined ? null : { marker: wholeMarker(source.marker), index };
  } catch (error) {
    // a document that is not there is a 404 without a type
    if (
      error instanceof AppError &&
      error.code === 'search_engine_missing' &&
      error.details['type'] === null
    ) {
      return null;
    }
    throw error;
  }
}

/** Writes the marker and makes it visible. Whoever calls has refreshed what it speaks of. */
export async function writeMarker(client: ElasticClient, index: string, marker: Marker): Promise<void> {
  await client.request({
    method: 'PUT',
    path: `/${writeAlias(index)}/_doc/${markerId}`,
    query: { refresh: true, require_alias: true },
    body: { marker },
  });
}
