import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { readSegments } from './segments.ts';

type Segments = Awaited<ReturnType<typeof readSegments>>;

/**
 * SQL that names the set of segments of a moment. Rows of segments never change and their ids are never used again, so
 * equal ids mean equal segments. All ids are hashed; the newest id alone is not enough, because a lower id may be
 * committed later.
 */
export const segmentsVersion = `SELECT count(*) || ':' || coalesce(bit_xor(hashint8extended(segment_id, 0)), 0) AS segments
       FROM chain.search_segments`;

interface Opening {
  readonly segments: string;
}

/**
 * The segments of snapshots. They change when a sealer or an undo commits, which happens some times per hour. In
 * between, no search reads their rows, which are thousands on mainnet.
 */
export class KnownSegments {
  #known: { readonly version: string; readonly segments: Segments } | null = null;

  async read({ client, opening }: Snapshot): Promise<Segments> {
    const version = (opening as Opening | undefined)?.segments;
    if (version === undefined) return readSegments(client);
    if (this.#known?.version === version) return this.#known.segments;
    const segments = await readSegments(client);
    this.#known = { version, segments };
    return segments;
  }
}
