import type { ClientBase, Pool } from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';

/**
 * SQL: whether this service made a transaction, even if it is superseded.
 *
 * @param txid an SQL expression: 32 bytes, in internal order
 */
export const isOwnTransaction = (txid: string): string =>
  `EXISTS (SELECT FROM service.wallet_transactions o WHERE o.txid = ${txid})`;

/** SQL: whether a reveal of an order was signed, even if it was replaced. */
export const hasReveal = (orderId: string): string =>
  `EXISTS (SELECT FROM service.wallet_transactions AS t WHERE t.order_id = ${orderId} AND t.kind = 'reveal')`;

/** SQL: whether a refund of an order is in a block that is too deep for any reorganisation. */
export const hasDeepRefund = (orderId: string): string =>
  `EXISTS (SELECT FROM service.wallet_transactions AS t
            WHERE t.order_id = ${orderId} AND t.kind = 'refund' AND t.height IS NOT NULL)`;

/** Returns the transactions among `txids` that this service made. */
export async function ownTransactions(
  client: ClientBase | Pool,
  txids: readonly Txid[],
): Promise<readonly Txid[]> {
  if (txids.length === 0) return [];
  const { rows } = await client.query<{ txid: Txid }>(
    'SELECT txid FROM service.wallet_transactions WHERE txid = ANY($1::bytea[])',
    [txids.map((txid) => Buffer.from(txid))],
  );
  return rows.map(({ txid }) => txid);
}

/** Txids of all reveals that an order ever had, including those that can never be mined. */
export async function revealsOfOrder(client: ClientBase, orderId: string): Promise<Txid[]> {
  const { rows } = await client.query<{ txid: Txid }>(
    `SELECT txid FROM service.wallet_transactions WHERE order_id = $1 AND kind = 'reveal'`,
    [orderId],
  );
  return rows.map(({ txid }) => txid);
}
