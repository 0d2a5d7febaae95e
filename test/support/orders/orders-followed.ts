import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';

/** Whether the index, the payments and the orders have processed the node's best block. */
export async function areOrdersFollowed(pool: pg.Pool, rpc: NodeRpc): Promise<boolean> {
  const best = Buffer.from(await rpc.call<string>('getbestblockhash'), 'hex').reverse();
  const { rowCount } = await pool.query(
    `SELECT FROM chain.state, service.payments_offset AS p WHERE tip_hash = $1 AND p.hash = $1
        AND coalesce((SELECT change FROM service.orders_offset), 0)
            >= coalesce((SELECT max(change) FROM service.payments_seen), 0)`,
    [best],
  );
  return rowCount === 1;
}
