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

/** How a transaction left the mempool without a block. */
export interface Departed {
  /** The transaction that replaced it. Null: none did, or it is unknown. */
  readonly by: Buffer | null;
  readonly at: Date;
}

/**
 * The transactions of a list, in hex and internal order, that left the mempool without a block, each with its last
 * departure. Some of them may have come back since.
 */
export async function readDepartedAmong(
  client: ClientBase,
  txids: readonly Buffer[],
): Promise<Map<string, Departed>> {
  if (txids.length === 0) return new Map();
  const { rows } = await client.query<Departed & { txid: Buffer }>(
    `SELECT txid, replaced_by AS by, left_at AS at FROM chain.mempool_departures WHERE txid = ANY($1) ORDER BY position`,
    [txids],
  );
  return new Map(rows.map(({ txid, by, at }) => [txid.toString('hex'), { by, at }]));
}

/**
 * The transactions of a list, in hex and internal order, that are known to be in a block of the chain. The mempool's
 * tables name the block of a transaction for some blocks. Later, only a reveal or an etching is known.
 */
export async function readMinedAmong(client: ClientBase, txids: readonly Buffer[]): Promise<Set<string>> {
  if (txids.length === 0) return new Set();
  const { rows } = await client.query<{ txid: Buffer }>(
    `SELECT t.txid FROM chain.mempool_transactions AS t
       JOIN chain.blocks AS b ON b.height = t.block_height AND b.hash = t.block_hash WHERE t.txid = ANY($1)
     UNION SELECT txid FROM chain.inscriptions WHERE txid = ANY($1)
     UNION SELECT txid FROM chain.runes WHERE txid = ANY($1)`,
    [txids],
  );
  return new Set(rows.map(({ txid }) => txid.toString('hex')));
}
