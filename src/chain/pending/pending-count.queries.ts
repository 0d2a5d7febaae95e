import type { ClientBase } from 'pg';

/**
 * Maximum number up to which pending rows are counted exactly. Counting ten thousand takes some milliseconds. Above
 * that, a page shows "more than".
 */
export const pendingCountedMax = 10_000;

/**
 * The number of inscriptions that mempool transactions would reveal. Counts at most `pendingCountedMax` + 1. `null` if
 * no mempool is followed now.
 */
export async function countPendingInscriptions(client: ClientBase): Promise<number | null> {
  const { rows } = await client.query<{ count: number | null }>(
    `SELECT CASE WHEN EXISTS (SELECT FROM chain.pending_state) THEN
       (SELECT count(*)::float8 FROM (SELECT FROM chain.pending_inscriptions LIMIT $1) AS counted) END AS count`,
    [pendingCountedMax + 1],
  );
  return rows[0]?.count ?? null;
}
