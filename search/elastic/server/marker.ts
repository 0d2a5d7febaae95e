import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHashHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { ElasticClient } from './elastic-client.ts';
import { writeAlias } from './search-index.ts';

/**
 * The extent of the documents of an index, and the only trusted fact about the index. The marker is in the index
 * itself, so an index that was wiped or restored from an old snapshot states its own position. It is written after
 * everything that it covers was refreshed. When blocks are taken back, `undoing` is written before any document
 * changes.
 *
 * While `rewinds` stays the same, `nextKey` only grows, and documents never change below it. Documents may have keys
 * from `nextKey` on, if a batch is being written or was interrupted. Readers ignore these keys. Readers also read the
 * marker again once they have opened their moment (a GET by id, which is always current). If `rewinds` or the index of
 * the alias has changed, the moment is invalid.
 */
export interface Marker {
  /** `loading`: a first load is running, and nothing reads the index yet. */
  readonly state: 'loading' | 'complete' | 'undoing';
  /** Increases whenever `nextKey` decreases. */
  readonly rewinds: number;
  /**
   * Identifies the database (chain.state.fingerprint_key), because the same keys mean other inscriptions in another
   * database.
   */
  readonly database: string;
  /** chain.state.undo_epoch */
  readonly epoch: number;
  /** The outbox sequence up to which the index is complete. */
  readonly sequence: number;
  /** The last block at that sequence, with its hash in display order. Null: no block. */
  readonly tip: { readonly height: Height; readonly hash: BlockHashHex } | null;
  /** The lowest key that no document up to the marker has. */
  readonly nextKey: number;
  /** The phrases of all documents (phrases/phrase-book.ts), folded. They are chosen when the index is created. */
  readonly phrases: readonly string[];
  /** Whether the server was told to merge the segments of the first load. */
  readonly isMerged: boolean;
}

export const markerId = 'marker';

/** Defaults for markers that older versions wrote. */
const notOfOld = { phrases: [], isMerged: false } as const;

/** Version of the marker's document in the index. The next write must name it. Null: there is no marker yet. */
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
 * Reads the current marker (not the marker of the last refresh) and the name of the alias's index. Returns null if no
 * marker was written. Throws `search_engine_missing` if there is no index.
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
      // if a document is missing, the answer is a 404 without a type
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

/** Writes the marker and makes it visible. The caller must have refreshed everything that the marker covers. */
export async function writeMarker(client: ElasticClient, index: string, marker: Marker): Promise<void> {
  await client.request({
    method: 'PUT',
    path: `/${writeAlias(index)}/_doc/${markerId}`,
    query: { refresh: true, require_alias: true },
    body: { marker },
  });
}
