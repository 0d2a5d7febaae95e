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
  /** The marker of the index. Null: it could not be read, and `problem` has the reason. */
  readonly marker: Marker | null;
  readonly problem: AppError | null;
  /** Number of blocks of the chain that the index lacks. Null: unknown. */
  readonly lagBlocks: number | null;
  /** Number of outbox rows that the index lacks. */
  readonly lagSequence: number | null;
}

/** How long a status request waits for Elasticsearch, in ms. */
const timeoutMs = 2000;

/**
 * Reads the chain and the index. A failure of Elasticsearch becomes part of the answer; a failure of Postgres is
 * thrown.
 */
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
      // an index that has not gone back yet may be above the tip
      lagBlocks: Math.max(0, height - (marker.tip?.height ?? -1)),
      lagSequence: Math.max(0, last - marker.sequence),
    };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind, marker: null, problem: error, lagBlocks: null, lagSequence: null };
  }
}
