import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';

/** The part of a return's cost that the service pays. */
export interface ReturnCost {
  readonly txid: Txid;
  readonly sats: bigint;
}

/** Stores the service's cost of a stored return. */
export async function addReturnCost(tx: pg.ClientBase, { txid, sats }: ReturnCost): Promise<void> {
  await tx.query(
    'INSERT INTO service.return_costs (txid, sats) VALUES ($1, $2) ON CONFLICT (txid) DO NOTHING',
    [Buffer.from(txid), sats],
  );
}

/** Cost of the returns of all orders within the last `ms` milliseconds, in sats of the service. */
export async function returnCostSince(tx: pg.ClientBase, ms: number): Promise<bigint> {
  const { rows } = await tx.query<{ sats: string }>(
    `SELECT coalesce(sum(c.sats), 0)::text AS sats
       FROM service.return_costs AS c JOIN service.wallet_transactions AS t USING (txid)
      WHERE c.made_at > now() - $1 * interval '1 millisecond' AND t.superseded_at IS NULL`,
    [ms],
  );
  return BigInt(rows[0]?.sats ?? 0);
}
