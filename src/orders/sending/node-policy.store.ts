import type pg from 'pg';
import type { NodeStanding } from './node-standing.ts';

/** Fee rates that a node accepted recently, in sats per 1,000 virtual bytes. */
export interface NodePolicy {
  readonly leastFeeRate: bigint;
  /** Minimum fee rate that the node accepts now. It equals `leastFeeRate`, or is higher while the mempool is full. */
  readonly mempoolMinFeeRate: bigint;
  /** The node's fee estimate, or null if it has no estimate. */
  readonly estimate: bigint | null;
}

/** Stores the node's rates. The processes that accept orders read them. */
export async function putNodePolicy(
  client: pg.ClientBase,
  {
    minRelayFeeRate,
    mempoolMinFeeRate,
    estimate,
  }: Pick<NodeStanding, 'minRelayFeeRate' | 'mempoolMinFeeRate' | 'estimate'>,
): Promise<void> {
  await client.query(
    `INSERT INTO service.node_policy (least_fee_rate, estimate, mempool_min_fee_rate) VALUES ($1, $2, $3)
     ON CONFLICT (one) DO UPDATE
        SET least_fee_rate = $1, estimate = $2, mempool_min_fee_rate = $3, asked_at = now()`,
    [minRelayFeeRate, estimate, mempoolMinFeeRate],
  );
}

/** Reads the node's rates. Returns null if no node has answered within the last hour. */
export async function readNodePolicy(client: pg.Pool | pg.ClientBase): Promise<NodePolicy | null> {
  const { rows } = await client.query<{ least: number; minimum: number; estimate: number | null }>(
    `SELECT least_fee_rate AS least, coalesce(mempool_min_fee_rate, least_fee_rate) AS minimum, estimate
       FROM service.node_policy WHERE asked_at > now() - interval '1 hour'`,
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    leastFeeRate: BigInt(row.least),
    mempoolMinFeeRate: BigInt(row.minimum),
    estimate: row.estimate === null ? null : BigInt(row.estimate),
  };
}
