import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { ElasticClient } from '#search/elastic/server/elastic-client.ts';
import { type Marker, readMarker } from '#search/elastic/server/marker.ts';
import { syncedKind } from './outbox.ts';

/** How far the served index is behind the chain. */
export interface SearchStanding {
  /** Name of the kind of events that the index follows (docs/events.md). */
  readonly kind: string;
  /** Null: it could not be read; `problem` has the reason. */
  readonly marker: Marker | null;
  readonly problem: AppError | null;
  /** Blocks of the chain that are missing in it. Null: unknown. */
  readonly lagBlocks: number | null;
  /** Rows of the outbox. */
  readonly lagSequence: number | null;
}

/** A status request waits no longer than this for another server. */
const timeoutMs = 2000;

/** Asks both sides. A failure of Elasticsearch becomes part of the answer; a failure of Postgres throws. */
export async function readSearchStanding(
  elastic: ElasticClient,
  alias: string,
  client: pg.ClientBase | pg.Pool,
): Promise<SearchStanding> {
  const { rows } = await client.query<{ tip_height: Height | null; last: number | null }>(
    'SELECT tip_height, (SELECT max(sequence) FROM chain.outbox) AS last FROM chain.state',
  );
  const kind = syncedKind.name;
  const height = rows[0]?.tip_height ?? -1;
  const last = rows[0]?.last ?? 0;
  try {
    const marker = (await readMarker(elastic, alias, timeoutMs))?.marker ?? null;
    if (marker === null) return { kind, marker, problem: null, lagBlocks: null, lagSequence: null };
    return {
      kind,
      marker,
      problem: null,
      // an index that has not gone back yet is above the tip
      lagBlocks: Math.max(0, height - (marker.tip?.height ?? -1)),
      lagSequence: Math.max(0, last - marker.sequence),
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind, marker: null, problem: error, lagBlocks: null, lagSequence: null };
  }
}
