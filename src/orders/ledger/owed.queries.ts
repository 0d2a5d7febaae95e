import type pg from 'pg';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { servedNetwork } from '#kernel/pg/served-network.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';

/** An order that owes its customer money, while no active delivery uses this money. */
export interface OwingOrder {
  readonly id: string;
  readonly state: OrderState;
  /** Sats that are owed according to the ledger. */
  readonly owed: number;
  /**
   * Address of the refund. The refund is automatic if it is worth its fee. Null if there is no address. The operator
   * then decides.
   */
  readonly refundAddress: string | null;
  readonly createdAt: Date;
}

/**
 * Orders that owe money, largest amount first. Reads the whole ledger, which takes half a second for 100,000 orders.
 */
export async function owingOrders(client: pg.Pool, limit: number): Promise<OwingOrder[]> {
  const { rows } = await client.query<{
    id: string;
    state: OrderState;
    owed: string;
    refund_script: Buffer | null;
    created_at: Date;
  }>(
    `SELECT o.id, o.state, sum(moved.sats)::text AS owed, o.refund_script, o.created_at
       FROM (SELECT order_id, amount AS sats FROM service.ledger_entries WHERE to_account = 'owed' AND asset = ${satsAsset}
             UNION ALL
             SELECT order_id, -amount FROM service.ledger_entries WHERE from_account = 'owed' AND asset = ${satsAsset}) AS moved
       JOIN service.orders AS o ON o.id = moved.order_id
      WHERE o.state NOT IN ('waiting-payment', 'waiting-confirmation', 'prep', 'waiting-reveal', 'waiting-rune-balance', 'queued')
      GROUP BY o.id HAVING sum(moved.sats) > 0 ORDER BY sum(moved.sats) DESC, o.id LIMIT $1`,
    [limit],
  );
  const network = await servedNetwork(client);
  return rows.map(({ id, state, owed, refund_script: script, created_at: createdAt }) => {
    const refundAddress =
      script === null || network === null ? null : scriptToAddress(script, networks[network]);
    return { id, state, owed: Number(owed), refundAddress, createdAt };
  });
}
