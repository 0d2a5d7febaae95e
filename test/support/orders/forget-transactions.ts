import type pg from 'pg';

/** Deletes an order's transactions, as if they had never been made. */
export async function forgetTransactions(client: pg.Pool | pg.ClientBase, orderId: string): Promise<void> {
  await client.query(
    `WITH made AS (DELETE FROM service.wallet_transactions WHERE order_id = $1 RETURNING txid)
     DELETE FROM service.wallet_spends USING made WHERE family = made.txid`,
    [orderId],
  );
}
