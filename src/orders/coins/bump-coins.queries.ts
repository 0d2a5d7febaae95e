import type pg from 'pg';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { StoredBumpPlan } from '#orders/bumping/bump.store.ts';
import { isMined } from '#purse/transactions/spends.store.ts';
import type { BumpCoinFacts } from './order-coins.ts';

/** Facts about the change outputs of all bumps whose fees these orders share. */
export async function readBumpCoins(
  client: pg.ClientBase,
  orderIds: readonly string[],
): Promise<BumpCoinFacts[]> {
  const { rows } = await client.query<{
    txid: Buffer;
    own_index: number;
    plan: StoredBumpPlan;
    is_there: boolean;
    are_delivered: boolean;
  }>(
    `SELECT b.txid, b.own_index, b.plan, ${isMined('b')} OR b.superseded_at IS NULL AS is_there,
            NOT EXISTS (SELECT FROM service.bump_shares AS s JOIN service.orders AS o ON o.id = s.order_id
                         WHERE s.bump = b.txid AND o.state <> 'completed') AS are_delivered
       FROM service.wallet_transactions AS b
      WHERE b.txid IN (SELECT bump FROM service.bump_shares WHERE order_id = ANY($1::uuid[]))`,
    [orderIds],
  );
  return rows.map(({ txid, own_index: ownIndex, plan, is_there: isThere, are_delivered: areDelivered }) => ({
    txid: trustedTxid(txid),
    ownIndex,
    value: plan.outputs[0]?.value ?? 0,
    isOwing: plan.owed !== undefined,
    isThere,
    areDelivered,
  }));
}
