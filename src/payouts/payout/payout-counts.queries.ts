import type pg from 'pg';
import type { PayoutState } from './payout.ts';

/** States of payouts that are still awaited, because no transaction of the payout is in a block. */
export const waitingStates = ['asked', 'signed', 'sent'] as const satisfies readonly PayoutState[];

export interface PayoutCounts {
  readonly waiting: ReadonlyMap<(typeof waitingStates)[number], number>;
  /** Age of the oldest waiting payout in seconds, or null if no payout waits. */
  readonly oldestSeconds: number | null;
  /** Number of waiting payouts that cannot proceed. `satscribe payouts list` shows why. */
  readonly stuck: number;
}

/** Counts open payouts with an index. Usually only a few are open. */
export async function countPayouts(pool: pg.Pool): Promise<PayoutCounts> {
  const { rows } = await pool.query<{ state: string; payouts: number; stuck: number; oldest: number }>(
    `SELECT state, count(*)::int AS payouts, count(stuck)::int AS stuck,
            extract(epoch FROM now() - min(asked_at))::float8 AS oldest
       FROM service.payouts
      WHERE state NOT IN ('settled', 'cancelled') AND state = ANY($1) GROUP BY state`,
    [waitingStates],
  );
  return {
    waiting: new Map(
      waitingStates.map((state) => [state, rows.find((row) => row.state === state)?.payouts ?? 0]),
    ),
    oldestSeconds: rows.length === 0 ? null : Math.max(...rows.map(({ oldest }) => oldest)),
    stuck: rows.reduce((sum, row) => sum + row.stuck, 0),
  };
}
