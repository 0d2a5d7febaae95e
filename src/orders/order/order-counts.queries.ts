import type pg from 'pg';
import { deliveringStates, type OrderState } from './order-machine.ts';

/** States of orders that someone waits for. Finished orders are not counted, because their number only grows. */
export const openStates = [
  'waiting-payment',
  'waiting-parent',
  'waiting-confirmation',
  'prep',
  ...deliveringStates,
  'waiting-refund',
  'error',
] as const satisfies readonly OrderState[];

/** Number of orders in each open state, and number of orders with a stuck transaction that has no bump. */
export interface OrderCounts {
  readonly open: ReadonlyMap<OrderState, number>;
  readonly stuck: number;
  /** Time since the payment of the oldest order that is paid and has no stored reveal. Null: no order waits for one. */
  readonly oldestUnsentSeconds: number | null;
}

/** Counts open orders. Reads one row of the index on states for each open order. */
export async function countOrders(client: pg.Pool | pg.ClientBase): Promise<OrderCounts> {
  const { rows } = await client.query<{
    state: OrderState;
    orders: number;
    stuck: number;
    paid: number | null;
  }>(
    `SELECT state, count(*) AS orders, count(stuck) AS stuck,
            extract(epoch FROM now() - min(paid_at) FILTER (WHERE state = 'prep'))::float8 AS paid
       FROM service.orders
      WHERE state = ANY($1) GROUP BY state`,
    [openStates],
  );
  return {
    open: new Map(openStates.map((state) => [state, rows.find((row) => row.state === state)?.orders ?? 0])),
    stuck: rows.reduce((sum, row) => sum + row.stuck, 0),
    oldestUnsentSeconds: rows.find(({ state }) => state === 'prep')?.paid ?? null,
  };
}
