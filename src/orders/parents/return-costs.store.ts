import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import { isOutputThere } from '#payments/payments.queries.ts';

/** Cost of a return to the service. */
export interface ReturnCost {
  readonly txid: Txid;
  readonly sats: bigint;
  /** The coin that it spends, which is of no order or of another one; null: it spends revenue of its own order. */
  readonly coin: { readonly txid: Txid; readonly vout: number } | null;
}

/** Notes what a stored return costs the service. */
export async function addReturnCost(tx: pg.ClientBase, { txid, sats, coin }: ReturnCost): Promise<void> {
  await tx.query(
    `INSERT INTO service.return_costs (txid, sats, coin_txid, coin_vout) VALUES ($1, $2, $3, $4)
     ON CONFLICT (txid) DO NOTHING`,
    [Buffer.from(txid), sats, coin === null ? null : Buffer.from(coin.txid), coin?.vout ?? null],
  );
}

/** Sats of the service that returns of all orders took within so many milliseconds. */
export async function returnCostSince(tx: pg.ClientBase, ms: number): Promise<bigint> {
  const { rows } = await tx.query<{ sats: string }>(
    `SELECT coalesce(sum(c.sats), 0)::text AS sats
       FROM service.return_costs AS c JOIN service.order_transactions AS t USING (txid)
      WHERE c.made_at > now() - $1 * interval '1 millisecond' AND t.superseded_at IS NULL`,
    [ms],
  );
  return BigInt(rows[0]?.sats ?? 0);
}

/** SQL: whether a return that may be mined spends the coin that expressions give. */
export const isCoinOfReturn = (txid: string, vout: string): string =>
  `EXISTS (SELECT FROM service.return_costs AS rc JOIN service.order_transactions AS rt ON rt.txid = rc.txid
            WHERE rc.coin_txid = ${txid} AND rc.coin_vout = ${vout} AND rt.superseded_at IS NULL)`;

/** Coins of the operator that returns of an order spend, if a block or the mempool has them. */
export async function coinsOfReturns(
  tx: pg.ClientBase,
  orderId: string,
): Promise<{ readonly txid: Buffer; readonly vout: number }[]> {
  const { rows } = await tx.query<{ txid: Buffer; vout: number }>(
    `SELECT c.coin_txid AS txid, c.coin_vout AS vout
       FROM service.order_transactions AS t JOIN service.return_costs AS c ON c.txid = t.txid
      WHERE t.order_id = $1 AND ${isOutputThere('c.coin_txid', 'c.coin_vout')}`,
    [orderId],
  );
  return rows;
}
