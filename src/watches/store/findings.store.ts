import type pg from 'pg';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type Finding, type FindingFacts, type FindingState, findingId } from '#watches/watch.ts';

/** Channel that reports new findings and new states of findings. */
export const findingsChannel = 'satscribe_findings';

export interface FindingRow {
  readonly watch_id: string;
  readonly thing: string;
  readonly state: FindingState;
  readonly number: number;
  readonly txid: Buffer;
  readonly height: number | null;
  readonly block_hash: Buffer | null;
  readonly replaced_by: Buffer | null;
  readonly facts: FindingFacts;
  readonly first_seen: Date;
  readonly changed_at: Date;
}

export const findingColumns =
  'watch_id, thing, state, number, txid, height, block_hash, replaced_by, facts, first_seen, changed_at';

/** Maximum number of findings of one page. */
export const findingsPageMax = 1000;

export interface FindingsPage {
  /** In the order of their numbers. Each finding has its newest state. */
  readonly findings: readonly Finding[];
  /** The number of the watch's newest change, which may be after this page. */
  readonly lastNumber: number;
  /** Whether there are more findings after this page. */
  readonly more: boolean;
}

/**
 * Findings of a watch whose newest change has a number above `after`. A finding that changes gets a higher number, so a
 * reader who continues with the last number of a page sees each newest state at least once.
 *
 * @param limit 1 to `findingsPageMax`
 */
export async function readFindings(
  client: pg.Pool | pg.ClientBase,
  watchId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<FindingsPage> {
  const { rows } = await client.query<FindingRow & { last_number: number }>(
    `SELECT f.*, w.last_number FROM service.watches AS w
       LEFT JOIN LATERAL (SELECT ${findingColumns} FROM service.watch_findings
         WHERE watch_id = w.id AND number > $2 ORDER BY number LIMIT $3) AS f ON true
      WHERE w.id = $1 ORDER BY f.number`,
    [watchId, after, limit + 1],
  );
  const found = rows.filter(({ thing }) => thing !== null);
  return {
    findings: found.slice(0, limit).map(findingOf),
    lastNumber: rows[0]?.last_number ?? 0,
    more: found.length > limit,
  };
}

/** The newest findings of a watch, the newest change first. */
export async function readNewestFindings(
  client: pg.Pool | pg.ClientBase,
  watchId: string,
  limit: number,
): Promise<Finding[]> {
  const { rows } = await client.query<FindingRow>(
    `SELECT ${findingColumns} FROM service.watch_findings WHERE watch_id = $1 ORDER BY number DESC LIMIT $2`,
    [watchId, limit],
  );
  return rows.map(findingOf);
}

export function findingOf(row: FindingRow): Finding {
  return {
    id: findingId(row.watch_id, row.thing),
    watchId: row.watch_id,
    thing: row.thing,
    state: row.state,
    number: row.number,
    txid: displayHash(row.txid),
    height: row.height,
    blockHash: row.block_hash === null ? null : displayHash(row.block_hash),
    replacedBy: row.replaced_by === null ? null : displayHash(row.replaced_by),
    facts: row.facts,
    firstSeen: row.first_seen,
    changedAt: row.changed_at,
  };
}
