import type pg from 'pg';
import { minedHeight } from '#payments/payments.queries.ts';
import { paymentsTipHeight, rememberedBlocks } from '#payments/store/offset.store.ts';

/**
 * Transactions whose blocks are stored together: all bumps, all transactions of a payout, or the refunds and returns of
 * an order.
 */
export type NotedTransactions =
  | { readonly kind: 'bumps' }
  | { readonly kind: 'payout' | 'closings'; readonly id: string };

const areNoted: Readonly<Record<NotedTransactions['kind'], string>> = {
  bumps: `t.kind = 'bump' AND $2::uuid IS NULL`,
  payout: 't.payout_id = $2',
  closings: `t.order_id = $2 AND t.kind IN ('return', 'refund')`,
};

/**
 * Stores the blocks of transactions that are below the blocks that payments remember. Such transactions never change
 * any more.
 */
export async function noteDeepBlocks(client: pg.ClientBase, noted: NotedTransactions): Promise<void> {
  await client.query(
    `UPDATE service.wallet_transactions AS t SET height = ${minedHeight('t.txid')}
      WHERE ${areNoted[noted.kind]} AND t.height IS NULL
        AND ${minedHeight('t.txid')} <= ${paymentsTipHeight} - $1`,
    [rememberedBlocks, noted.kind === 'bumps' ? null : noted.id],
  );
}
