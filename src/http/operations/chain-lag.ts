import type pg from 'pg';
import { type FollowerReport, readFollowerReport } from '#chain/blocks/follower-status.queries.ts';
import { type DerivedTableReport, derivedTableReports } from '#chain/derived/derived-tables.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';

/** How far the index is behind the tip of its source. */
export interface Lag {
  readonly blocks: number;
  /** Age of the indexed tip in seconds, by the time in its header. 0 if the source has no newer blocks. */
  readonly seconds: number;
}

/** The state of the index, compared with its source. */
export interface Standing extends FollowerReport {
  /** The tip of the index. `null` if the index is empty. */
  readonly tip: Tip | null;
  /** The lag. `null` if the source's tip is unknown. */
  readonly lag: Lag | null;
  /** Derived tables that are not complete. */
  readonly behind: readonly DerivedTableReport[];
}

export function readStanding(pool: pg.Pool, signal: AbortSignal | null): Promise<Standing> {
  return withSnapshot(pool, standingAt, signal);
}

export async function standingAt({ client, tip }: Snapshot): Promise<Standing> {
  const report = await readFollowerReport(client);
  const tables = await derivedTableReports(client);
  const behind = tables.filter(({ isComplete }) => !isComplete);
  return { ...report, tip, lag: lagOf(tip, report), behind };
}

/**
 * Computes the lag. If the tip is above the source's tip, there is no lag. The node's chain then has less work, which
 * is another problem (`node_behind`).
 */
export function lagOf(
  tip: Tip | null,
  { status, tipTime, now }: Pick<FollowerReport, 'status' | 'tipTime' | 'now'>,
): Lag | null {
  const source = status?.sourceTip ?? null;
  if (source === null) return null;
  const blocks = Math.max(0, source.height - (tip?.height ?? -1));
  const age = tipTime === null ? 0 : Math.max(0, Math.floor(now.getTime() / 1000) - tipTime);
  return { blocks, seconds: blocks === 0 ? 0 : age };
}
