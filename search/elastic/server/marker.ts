import { AppError } from '#kernel/errors/app-error.ts';
import type { ElasticClient } from './elastic-client.ts';
import { writeAlias } from './search-index.ts';

/**
 * How far the documents of an index go: all that is believed about it. It lies in the index itself, so that one that was wiped, or
 * restored from an old snapshot, says truly where it stands. It is written after all that it speaks of was refreshed; `undoing` is
 * written, before any document is changed, when blocks are taken back.
 *
 * While `rewinds` stays the same `nextKey` only grows, and what documents say of keys below it does not change. They may hold keys from
 * `nextKey` on: of a batch that is being written or was cut off. Readers leave those out, and take the marker again once they have opened
 * their moment (a GET by id, which is of now): where `rewinds` or the index behind the alias is another one, the moment is void.
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

/** What a marker of older documents does not say. */
const notOfOld = { phrases: [], isMerged: false } as const;

/** The place of a marker's document in the history of the index: who writes the next one must know it. Null: there is none yet. */
export type Place = { readonly seqNo: number; readonly primaryTerm: number } | null;

export interface PlacedMarker {
  readonly marker: Marker;
  readonly place: Place;
}

interface StoredMarker {
  readonly _index: string;
  readonly _seq_no?: number;
  readonly _primary_term?: number;
  readonly _source?: { readonly marker?: Marker };
}

/**
 * Reads the marker as it stands now, not as of the last refresh, and the name of the index that an alias stands for; null: none was
 * written. Throws `search_engine_missing` where there is no index.
 */
export async function readMarker(
  client: ElasticClient,
  alias: string,
  timeoutMs?: number,
): Promise<(PlacedMarker & { readonly index: string }) | null> {
  const stored = await client
    .request<StoredMarker>({
      method: 'GET',
      path: `/${alias}/_doc/${markerId}`,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    })
    .catch((error: unknown) => {
      // a document that is not there is a 404 without a type
      if (
        error instanceof AppError &&
        error.code === 'search_engine_missing' &&
        error.details['type'] === null
      )
        return null;
      throw error;
    });
  if (stored === null) return null;
  const { _index: index, _seq_no: seqNo, _primary_term: primaryTerm, _source: source } = stored;
  if (source?.marker === undefined || seqNo === undefined || primaryTerm === undefined) return null;
  return { marker: { ...notOfOld, ...source.marker }, index, place: { seqNo, primaryTerm } };
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
