import type pg from 'pg';

/** NOTIFY channel for requests about orders. */
export const ordersChannel = 'satscribe_orders';

/**
 * Wakes the process with the seed, which processes orders. Inside a transaction, the process is woken at the commit.
 */
export async function wakeOrders(client: pg.Pool | pg.ClientBase): Promise<void> {
  await client.query(`SELECT pg_notify('${ordersChannel}', '')`);
}

/** Makes an order due now. */
export async function wakeOrder(client: pg.Pool | pg.ClientBase, id: string): Promise<void> {
  await client.query('UPDATE service.orders SET look_at = now() WHERE id = $1', [id]);
  await wakeOrders(client);
}

/** Stores a customer's request to cancel an order, for the process with the seed. */
export async function askToCancel(client: pg.Pool | pg.ClientBase, id: string): Promise<void> {
  await client.query('UPDATE service.orders SET cancel_asked_at = now(), look_at = now() WHERE id = $1', [
    id,
  ]);
  await wakeOrders(client);
}

/** Stores the operator's request to refund an order with stored transactions, for the process with the node. */
export async function askForRefund(tx: pg.ClientBase, id: string, script: Uint8Array): Promise<void> {
  await tx.query(
    'UPDATE service.orders SET refund_asked_at = now(), refund_asked_script = $2 WHERE id = $1',
    [id, Buffer.from(script)],
  );
}

/** The script of a requested refund, in hex. Null if no refund is requested. */
export async function readRefundWish(client: pg.Pool | pg.ClientBase, id: string): Promise<string | null> {
  const { rows } = await client.query<{ script: string | null }>(
    `SELECT encode(refund_asked_script, 'hex') AS script FROM service.orders WHERE id = $1`,
    [id],
  );
  return rows[0]?.script ?? null;
}

/** Orders with a requested refund, the oldest request first. */
export async function refundWishes(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM service.orders WHERE refund_asked_at IS NOT NULL ORDER BY refund_asked_at',
  );
  return rows.map(({ id }) => id);
}

/**
 * Deletes a refused request for a refund. `error` is the reason that the operator sees, or null if the request is
 * obsolete.
 */
export async function forgetRefundWish(tx: pg.ClientBase, id: string, error: string | null): Promise<void> {
  await tx.query(
    `UPDATE service.orders
        SET refund_asked_at = NULL, refund_asked_script = NULL, error = coalesce($2, error) WHERE id = $1`,
    [id, error],
  );
}

/** Grants a requested refund. From now on the order is refunded to the requested script. */
export async function grantRefundWish(tx: pg.ClientBase, id: string): Promise<void> {
  await tx.query(
    `UPDATE service.orders
        SET refund_script = refund_asked_script, refund_asked_at = NULL, refund_asked_script = NULL WHERE id = $1`,
    [id],
  );
}

/** Deletes a refused request to cancel. */
export async function forgetCancellation(tx: pg.ClientBase, id: string): Promise<void> {
  await tx.query('UPDATE service.orders SET cancel_asked_at = NULL WHERE id = $1', [id]);
}
