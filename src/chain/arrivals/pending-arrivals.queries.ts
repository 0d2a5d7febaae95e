import type { ClientBase } from 'pg';

/** The mempool's tables at one moment. */
export interface PendingMoment {
  readonly revision: number;
  /** The highest position of a pending transaction. 0: none is pending. */
  readonly position: number;
  /** Number of transactions that were left out, because the tables are bounded. */
  readonly leftOut: number;
}

/** The state of the mempool's tables. Null: no mempool is followed. */
export async function readPendingMoment(client: ClientBase): Promise<PendingMoment | null> {
  const { rows } = await client.query<PendingMoment>(
    `SELECT revision, left_out AS "leftOut",
            (SELECT coalesce(max(position), 0) FROM chain.pending_transactions) AS position FROM chain.pending_state`,
  );
  return rows[0] ?? null;
}

/** The transactions of a list, in hex and internal order, that are pending. */
export async function readPendingAmong(client: ClientBase, txids: readonly Buffer[]): Promise<Set<string>> {
  if (txids.length === 0) return new Set();
  const { rows } = await client.query<{ txid: Buffer }>(
    'SELECT txid FROM chain.pending_transactions WHERE txid = ANY($1)',
    [txids],
  );
  return new Set(rows.map(({ txid }) => txid.toString('hex')));
}

/**
 * The transactions of a list that left the mempool without a block, in hex and internal order, each with the
 * transaction that replaced it. The value is null if none did.
 */
export async function readDepartedAmong(
  client: ClientBase,
  txids: readonly Buffer[],
): Promise<Map<string, Buffer | null>> {
  if (txids.length === 0) return new Map();
  const { rows } = await client.query<{ txid: Buffer; by: Buffer | null }>(
    'SELECT txid, replaced_by AS by FROM chain.mempool_departures WHERE txid = ANY($1) ORDER BY position',
    [txids],
  );
  return new Map(rows.map(({ txid, by }) => [txid.toString('hex'), by]));
}
