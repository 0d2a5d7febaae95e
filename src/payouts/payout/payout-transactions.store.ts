import type pg from 'pg';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { minedHeight } from '#payments/payments.queries.ts';
import { noteDeepBlocks } from '#purse/transactions/deep-blocks.store.ts';
import { familyOf } from '#purse/transactions/spends.store.ts';
import { virtualBytesOf } from '#purse/transactions/stored-plan.ts';
import type { PayoutTransaction, StoredPayoutPlan } from './payout.ts';

/**
 * All transactions of a payout, the newest first. Superseded transactions are included, because one of them may still
 * be mined.
 */
export async function readPayoutTransactions(
  client: pg.ClientBase,
  payoutId: string,
): Promise<PayoutTransaction[]> {
  const { rows } = await client.query<{
    txid: Buffer;
    family: Buffer;
    plan: StoredPayoutPlan;
    fee: number;
    bytes: number;
    made_at: Date;
    sent_at: Date | null;
    refusal: string | null;
    is_superseded: boolean;
    height: number | null;
  }>(
    `SELECT t.txid, ${familyOf('t')} AS family, t.plan, t.fee, octet_length(t.bytes) AS bytes, t.made_at, t.sent_at, t.refusal,
            t.superseded_at IS NOT NULL AS is_superseded, coalesce(t.height, ${minedHeight('t.txid')}) AS height
       FROM service.wallet_transactions AS t WHERE t.payout_id = $1 ORDER BY t.made_at DESC, t.txid`,
    [payoutId],
  );
  return rows.map(({ txid, family, fee, bytes, made_at, sent_at, is_superseded, ...row }) => ({
    ...row,
    txid: trustedTxid(txid),
    family: trustedTxid(family),
    fee: BigInt(fee),
    virtualBytes: virtualBytesOf(row.plan, bytes),
    madeAt: made_at,
    sentAt: sent_at,
    isSuperseded: is_superseded,
  }));
}

/**
 * Whether a transaction of a payout is stored as deep. A transaction is deep if its block is older than the blocks that
 * payments remember.
 */
export async function isPayoutDeep(tx: pg.ClientBase, payoutId: string): Promise<boolean> {
  await noteDeepBlocks(tx, { kind: 'payout', id: payoutId });
  const { rowCount } = await tx.query(
    'SELECT FROM service.wallet_transactions WHERE payout_id = $1 AND height IS NOT NULL',
    [payoutId],
  );
  return rowCount !== 0;
}
