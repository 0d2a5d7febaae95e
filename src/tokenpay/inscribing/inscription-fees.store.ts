import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import { readPayments } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { creditedUnits } from '#tokenpay/crediting/credited-units.ts';
import { readCredits } from '#tokenpay/crediting/credits.store.ts';
import type { ChargeState, TokenOrderState } from '#tokenpay/order/charge-state.ts';
import { readTokenOrder } from '#tokenpay/order/token-order.store.ts';
import type { FeePayment } from '#tokenpay/order/token-order.ts';
import { tokenWatcherOf } from '#tokenpay/order/watchers.ts';

/** The progress of the rune payment for an inscription order. */
export interface RunePayment {
  readonly order: TokenOrderState;
  readonly charge: ChargeState;
  /** Whether a payment that came in time is in the mempool, or is in a block but not credited yet. */
  readonly isWaiting: boolean;
  /** Whether some units of the charge are credited. */
  readonly isCredited: boolean;
}

/** Inscription orders whose token orders changed since the last check. */
export async function ordersWithNews(client: pg.ClientBase, limit: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT order_id AS id FROM service.token_order_fees WHERE has_news ORDER BY order_id LIMIT $1',
    [limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Reads the progress of the rune payment for an inscription order. Locks the progress until the transaction ends, so
 * that a later change is stored as news again. Returns null if the order needs no rune.
 */
export async function lockRunePayment(tx: pg.ClientBase, orderId: string): Promise<RunePayment | null> {
  // the token order is locked first, as in the process that credits payments
  const { rowCount } = await tx.query({
    name: 'lock token order of inscriptions',
    text: `SELECT FROM service.token_orders
            WHERE id = (SELECT token_order FROM service.token_order_fees WHERE order_id = $1) FOR UPDATE`,
    values: [orderId],
  });
  if (rowCount === 0) return null;
  await tx.query('UPDATE service.token_order_fees SET has_news = false WHERE order_id = $1 AND has_news', [
    orderId,
  ]);
  const tokenOrder = await tokenOrderIdOf(tx, orderId);
  const order = tokenOrder === null ? null : await readTokenOrder(tx, tokenOrder);
  if (order === null) return null;
  const credits = (await readCredits(tx, [order.id])).get(order.id) ?? [];
  const credited = new Set(credits.map(outpointOf));
  const payments = await readPayments(tx, tokenWatcherOf(order.id));
  return {
    order: order.state,
    charge: order.charges.token.state,
    isWaiting: payments.some(
      (payment) =>
        payment.goneAt === null && payment.firstSeen <= order.expiresAt && !credited.has(outpointOf(payment)),
    ),
    isCredited: creditedUnits(order, 'token', credits) > 0n,
  };
}

/** SQL: whether an inscription order has sats that are not deep enough yet. Each new block may change this. */
export const hasShallowFee = (orderId: string): string =>
  `EXISTS (SELECT FROM service.token_order_fees AS f WHERE f.order_id = ${orderId} AND f.paid = 'seen')`;

/** Stores the state of an inscription order's sats. If the state changed, the token order becomes due. */
export async function putFeePayment(
  tx: pg.Pool | pg.ClientBase,
  orderId: string,
  paid: FeePayment,
  txid: Txid | null,
): Promise<void> {
  const payment = txid === null ? null : Buffer.from(txid);
  await tx.query(
    `WITH changed AS (
       UPDATE service.token_order_fees SET paid = $2, txid = $3
        WHERE order_id = $1 AND (paid, txid) IS DISTINCT FROM ($2, $3) RETURNING token_order)
     -- due at once, whatever the payments are complete up to
     UPDATE service.token_orders AS o SET look_at = o.created_at FROM changed WHERE o.id = changed.token_order`,
    [orderId, paid, payment],
  );
}

/** The token order that belongs to an inscription order. Returns null if the order needs no rune. */
export async function tokenOrderIdOf(
  client: pg.Pool | pg.ClientBase,
  orderId: string,
): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT token_order AS id FROM service.token_order_fees WHERE order_id = $1',
    [orderId],
  );
  return rows[0]?.id ?? null;
}
