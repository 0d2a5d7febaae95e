import type pg from 'pg';
import { deliveringStates, type OrderState } from './order-machine.ts';

/** States of orders that somebody waits for: those that are over are ever more, and say nothing of today. */
export const openStates = [
  'waiting-payment',
  'waiting-parent',
  'waiting-confirmation',
  'prep',
  ...deliveringStates,
  'waiting-refund',
  'error',
] as const satisfies readonly OrderState[];

/** How many orders are in each open state, and how many have a transaction that is stuck and not paid for. */
export interface OrderCounts {
  readonly open: ReadonlyMap<OrderState, number>;
  readonly stuck: number;
}

/** From the index on states: as many rows as orders are open. */
export async function countOrders(pool: pg.Pool): Promise<OrderCounts> {
  const { rows } = await pool.query<{ state: OrderState; orders: number; stuck: number }>(
    `SELECT state, count(*) AS orders, count(stuck) AS stuck FROM service.orders
      WHERE state = ANY($1) GROUP BY state`,
    [openStates],
  );
  return {
    open: new Map(openStates.map((state) => [state, rows.find((row) => row.state === state)?.orders ?? 0])),
    stuck: rows.reduce((sum, row) => sum + row.stuck, 0),
  };
}
