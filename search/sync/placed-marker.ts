import { AppError } from '#kernel/errors/app-error.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { type Marker, markerId, type Place, type PlacedMarker } from '#search/elastic/server/marker.ts';
import { writeAlias } from '#search/elastic/server/search-index.ts';

interface WrittenMarker {
  readonly _seq_no: number;
  readonly _primary_term: number;
}

/**
 * Replaces the marker that was read or written last. Throws `search_engine_moved` if another process has written a
 * marker since: all knowledge of this process about the index is then invalid.
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
      `Another process writes to the index ${index}.`,
      { index },
      error,
    );
  }
}
