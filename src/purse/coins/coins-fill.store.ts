import type pg from 'pg';

/** Progress of adding coins of orders from an earlier version to the table of coins. */
export interface CoinsFill {
  /** The last order whose coins are in the table, or null if there is none yet. */
  readonly after: string | null;
  readonly orders: number;
  readonly isComplete: boolean;
}

export async function readCoinsFill(client: pg.Pool | pg.ClientBase): Promise<CoinsFill> {
  const { rows } = await client.query<{ after: string | null; orders: number; is_complete: boolean }>(
    'SELECT after, orders, ended_at IS NOT NULL AS is_complete FROM service.wallet_coins_fill',
  );
  const [row] = rows;
  // this row always exists after the migration
  if (row === undefined) return { after: null, orders: 0, isComplete: false };
  return { after: row.after, orders: row.orders, isComplete: row.is_complete };
}

/**
 * Stores that the coins of all orders up to this one are in the table. Called in the transaction that adds the coins.
 */
export async function moveCoinsFill(tx: pg.ClientBase, after: string, orders: number): Promise<void> {
  await tx.query('UPDATE service.wallet_coins_fill SET after = $1, orders = orders + $2', [after, orders]);
}

/** Stores that the coins of all orders are in the table. */
export async function endCoinsFill(tx: pg.ClientBase): Promise<void> {
  await tx.query('UPDATE service.wallet_coins_fill SET ended_at = coalesce(ended_at, now())');
}
