import type pg from 'pg';

/** Result of the last audit of all orders. */
export interface LastAudit {
  readonly ageSeconds: number;
  /** Duration of the audit, in seconds. */
  readonly seconds: number;
  readonly orders: number;
  /** Number of orders that differ. Differences of the additional audits are included. */
  readonly differing: number;
}

/** Result of the last audit; null if no audit has ended yet. */
export async function readLastAudit(client: pg.Pool | pg.ClientBase): Promise<LastAudit | null> {
  const { rows } = await client.query<{
    age: number;
    seconds: number;
    orders: number;
    differing: number;
  }>(
    `SELECT extract(epoch FROM now() - ended_at)::float8 AS age, seconds, orders, differing FROM service.orders_audit`,
  );
  const [row] = rows;
  return row === undefined
    ? null
    : { ageSeconds: row.age, seconds: row.seconds, orders: row.orders, differing: row.differing };
}

export async function writeLastAudit(
  client: pg.ClientBase,
  { seconds, orders, differing }: Omit<LastAudit, 'ageSeconds'>,
): Promise<void> {
  await client.query(
    `INSERT INTO service.orders_audit (seconds, orders, differing) VALUES ($1, $2, $3)
         ON CONFLICT (one) DO UPDATE SET ended_at = now(), seconds = excluded.seconds, orders = excluded.orders,
            differing = excluded.differing`,
    [seconds, orders, differing],
  );
}
