import type pg from 'pg';

/** NOTIFY of an order that somebody asks something of. */
export const ordersChannel = 'satscribe_orders';

/** Wakes the process that brings orders on and has the seed: in a transaction, once that commits. */
export async function wakeOrders(client: pg.Pool | pg.ClientBase): Promise<void> {
  await client.query(`SELECT pg_notify('${ordersChannel}', '')`);
}

/** Has an order looked at now. */
export async function wakeOrder(client: pg.Pool | pg.ClientBase, id: string): Promise<void> {
  await client.query('UPDATE service.orders SET look_at = now() WHERE id = $1', [id]);
  await wakeOrders(client);
}

/** Notes that the customer wants an order cancelled, for the process that brings orders on. */
export async function askToCancel(client: pg.Pool, id: string): Promise<void> {
  await client.query('UPDATE service.orders SET cancel_asked_at = now(), look_at = now() WHERE id = $1', [
    id,
  ]);
  await wakeOrders(client);
}

/** Notes that the operator wants an order paid back whose transactions are stored, for the process with the node. */
export async function askForRefund(tx: pg.ClientBase, id: string, script: Uint8Array): Promise<void> {
  await tx.query(
    'UPDATE service.orders SET refund_asked_at = now(), refund_asked_script = $2 WHERE id = $1',
    [id, Buffer.from(script)],
  );
}

/** Orders that an operator wants paid back. */
export async function refundWishes(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM service.orders WHERE refund_asked_at IS NOT NULL ORDER BY refund_asked_at',
  );
  return rows.map(({ id }) => id);
}

/** The wish was refused; `error`: why, for the operator. Null: it has no object any more. */
export async function forgetRefundWish(tx: pg.ClientBase, id: string, error: string | null): Promise<void> {
  await tx.query(
    `UPDATE service.orders
        SET refund_asked_at = NULL, refund_asked_script = NULL, error = coalesce($2, error) WHERE id = $1`,
    [id, error],
  );
}

/** The wish is granted: from now on the order is paid back to where it asked for. */
export async function grantRefundWish(tx: pg.ClientBase, id: string): Promise<void> {
  await tx.query(
    `UPDATE service.orders
        SET refund_script = refund_asked_script, refund_asked_at = NULL, refund_asked_script = NULL WHERE id = $1`,
    [id],
  );
}

/** The wish was refused. */
export async function forgetCancellation(tx: pg.ClientBase, id: string): Promise<void> {
  await tx.query('UPDATE service.orders SET cancel_asked_at = NULL WHERE id = $1', [id]);
}
