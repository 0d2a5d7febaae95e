import type pg from 'pg';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';

/** Counts orders of an earlier version whose coins are not listed yet. */
export async function countUnlisted(client: pg.Pool | pg.ClientBase): Promise<number> {
  const { after, isComplete } = await readCoinsFill(client);
  if (isComplete) return 0;
  const { rows } = await client.query<{ left: number }>(
    'SELECT count(*) AS left FROM service.orders WHERE $1::uuid IS NULL OR id > $1',
    [after],
  );
  return rows[0]?.left ?? 0;
}
