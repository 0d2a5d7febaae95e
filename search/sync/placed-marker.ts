import { AppError } from '#kernel/errors/app-error.ts';
import type { ElasticClient } from '#search/elastic/elastic-client.ts';
import { type Marker, markerId, wholeMarker } from '#search/elastic/marker.ts';
import { writeAlias } from '#search/elastic/search-index.ts';

/** A marker and the place of its document in the history of the index: who writes the next one must know it. */
export interface PlacedMarker {
  readonly marker: Marker;
  readonly place: Place;
}

/** Null: there is no marker yet. */
export type Place = { readonly seqNo: number; readonly primaryTerm: number } | null;

interface StoredMarker {
  readonly found: boolean;
  readonly _seq_no?: number;
  readonly _primary_term?: number;
  readonly _source?: { readonly marker?: Marker };
}

interface WrittenMarker {
  readonly _seq_no: number;
  readonly _primary_term: number;
}

/** The marker as it stands now; null: the index has none. Throws `search_engine_missing` where there is no index. */
export async function readPlacedMarker(
  client: ElasticClient,
  index: string,
  timeoutMs?: number,
): Promise<PlacedMarker | null> {
  const stored = await client
    .request<StoredMarker>({
      method: 'GET',
      path: `/${index}/_doc/${markerId}`,
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
  const { _seq_no: seqNo, _primary_term: primaryTerm, _source: source } = stored ?? {};
  if (source?.marker === undefined || seqNo === undefined || primaryTerm === undefined) return null;
  return { marker: wholeMarker(source.marker), place: { seqNo, primaryTerm } };
}

/**
 * Writes a marker in place of the one that was read or written before. Throws `search_engine_moved` where another process
 * has written one meanwhile: what this one knows of the index is void.
 */
export async function placeMarker(
  client: ElasticClient,
  index: string,
  marker: Marker,
  place: Place,
): Promise<PlacedMarker> {
  const query =
    place === null ? { op_type: 'create' } : { if_seq_no: place.seqNo, if_primary_term: place.primaryTerm };
  try {
    const written = await client.request<WrittenMarker>({
      method: 'PUT',
      path: `/${writeAlias(index)}/_doc/${markerId}`,
      query: { ...query, require_alias: true },
      body: { marker },
    });
    return { marker, place: { seqNo: written._seq_no, primaryTerm: written._primary_term } };
  } catch (error) {
    if (!(error instanceof AppError) || error.details['status'] !== 409) throw error;
    throw new AppError(
      'search_engine_moved',
      `Another process writes into the index ${index}.`,
      { index },
      error,
    );
  }
}
