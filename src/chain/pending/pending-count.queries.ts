import type { ClientBase } from 'pg';

/**
 * Maximum number up to which pending rows are counted exactly. Ten thousand take some milliseconds, and above that a
 * page shows "more than".
 */
export const pendingCountedMax = 10_000;

/**
 * Inscriptions that the mempool would reveal, up to one more than `pendingCountedMax`. Null: no mempool is followed
 * now.
 */
export async function countPendingInscriptions(client: ClientBase): Promise<number | null> {
  const { rows } = await client.query<{ count: number | null }>(
    `SELECT CASE WHEN EXISTS (SELECT FROM chain.pending_state) THEN
       (SELECT count(*)::float8 FROM (SELECT FROM chain.pending_inscriptions LIMIT $1) AS counted) END AS count`,
    [pendingCountedMax + 1],
  );
  return rows[0]?.count ?? null;
}
