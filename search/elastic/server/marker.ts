import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHashHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { ElasticClient } from './elastic-client.ts';
import { writeAlias } from './search-index.ts';

/**
 * The extent of the documents of an index, and the only fact that is trusted about it. The marker is in the index
 * itself, so an index that was wiped or restored from an old snapshot states its own position. It is written after
 * everything that it covers was refreshed. When blocks are taken back, `undoing` is written before any document
 * changes.
 *
 * While `rewinds` stays the same, `nextKey` only grows, and documents never change below it. Documents may hold keys
 * from `nextKey` on, from a batch that is being written or was cut off. Readers ignore those, and read the marker again
 * once they have opened their moment (a GET by id, which is always current). If `rewinds` or the index of the alias
 * has changed, the moment is void.
 */
export interface Marker {
  /** `loading`: a first load is running, and nothing reads the index yet. */
  readonly state: 'loading' | 'complete' | 'undoing';
  /** Grows whenever `nextKey` shrinks. */
  readonly rewinds: number;
  /**
   * Identifies the database (chain.state.fingerprint_key): the same keys mean other inscriptions in another database.
   */
  readonly database: string;
  /** chain.state.undo_epoch */
  readonly epoch: number;
  /** The outbox sequence up to which the index is complete. */
  readonly sequence: number;
  /** The last block at that sequence, its hash in display order. Null: no block. */
  readonly tip: { readonly height: Height; readonly hash: BlockHashHex } | null;
  /** The first key that no document up to the marker holds. */
  readonly nextKey: number;
  /** The phrases of all documents (phrases/phrase-book.ts), folded. They are chosen when the index is created. */
  readonly phrases: readonly string[];
  /** Whether the server was told to merge the segments of the first load. */
  readonly isMerged: boolean;
}

export const markerId = 'marker';

/** Defaults for markers that older versions wrote. */
const notOfOld = { phrases: [], isMerged: false } as const;

/** Version of the marker's document in the index: the next write must name it. Null: there is no marker yet. */
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
 * Reads the current marker, not that of the last refresh, with the name of the alias's index. Null: no marker
 * was written. Throws `search_engine_missing` if there is no index.
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
      // a missing document is a 404 without a type
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

/** Writes the marker and makes it visible. The caller has refreshed everything that the marker covers. */
export async function writeMarker(client: ElasticClient, index: string, marker: Marker): Promise<void> {
  await client.request({
    method: 'PUT',
    path: `/${writeAlias(index)}/_doc/${markerId}`,
    query: { refresh: true, require_alias: true },
    body: { marker },
  });
}
