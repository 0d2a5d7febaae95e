import type pg from 'pg';
import { isNameLost, leastRefund } from './order-verdict.ts';

const ended: ReadonlySet<string> = new Set(['completed', 'refunded', 'expired', 'cancelled']);

/**
 * Describes orders that wait for anything except people. An order in `waiting-refund` may keep dust, but no parents. A
 * return that is made but not yet in a block changes no state.
 *
 * @param dustOf sats that strangers paid, by order; they may be below the fee of a refund
 */
export async function openOrders(
  pool: pg.Pool,
  dustOf: ReadonlyMap<string, number> = new Map(),
): Promise<string[]> {
  const { rows } = await pool.query<{
    id: string;
    state: string;
    error: string | null;
    owed: string;
    deposit: string;
  }>(
    `SELECT o.id, o.state, o.error, coalesce(sum(m.amount) FILTER (WHERE m.account = 'owed'), 0)::text AS owed,
            coalesce(sum(m.amount) FILTER (WHERE m.account = 'deposit'), 0)::text AS deposit
       FROM service.orders AS o
       LEFT JOIN LATERAL (
         SELECT to_account AS account, amount FROM service.ledger_entries WHERE order_id = o.id
          UNION ALL
         SELECT from_account, -amount FROM service.ledger_entries WHERE order_id = o.id) AS m ON true
      GROUP BY o.id`,
  );
  return rows.flatMap(({ id, state, error, owed, deposit }) => {
    const isOwed = Number(owed) >= leastRefund + (dustOf.get(id) ?? 0);
    const isOver = ended.has(state) || state === 'waiting-refund' || isNameLost({ state, error });
    return isOver && !isOwed && Number(deposit) === 0
      ? []
      : [`${id} is still ${state}, ${owed} sats owed, ${deposit} sats with parents, ${error ?? 'no error'}`];
  });
}
