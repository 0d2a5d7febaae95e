import type pg from 'pg';
import type { RevealPolicy } from '#kernel/contracts/node.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/** The row of chain.mempool_state. `isFollowed` tells whether the mempool is being followed now. */
export interface MempoolState {
  readonly isFollowed: boolean;
  readonly state: 'loading' | 'following' | 'waiting' | 'ended' | 'silent';
  readonly source: 'zmq' | 'polling';
  readonly revision: number;
  readonly transactions: number;
  readonly kept: number;
  readonly leftOut: number;
  readonly keptBytes: number;
  readonly problem: string | null;
  readonly since: Date;
  /** The last known reveal policy of the node. It is kept while the mempool is not followed. */
  readonly reveals: RevealPolicy;
}

/** The state of the mempool. `null` if no mempool was followed since the database server started or crashed. */
export async function mempoolState(client: pg.ClientBase): Promise<MempoolState | null> {
  const { rows } = await client.query<{
    is_followed: boolean;
    state: Exclude<MempoolState['state'], 'silent'>;
    source: MempoolState['source'];
    revision: number;
    transactions: number;
    kept: number;
    left_out: number;
    kept_bytes: number;
    problem: string | null;
    since: Date;
    reveals: RevealPolicy;
  }>(
    `SELECT EXISTS (SELECT FROM chain.pending_state) AS is_followed, state, source, revision, transactions, kept,
            left_out, kept_bytes, problem, since, reveals
       FROM chain.mempool_state`,
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    isFollowed: row.is_followed,
    // `following` without a lock means that the process was killed, because a killed process cannot report its end
    state: row.state === 'following' && !row.is_followed ? 'silent' : row.state,
    source: row.source,
    revision: row.revision,
    transactions: row.transactions,
    kept: row.kept,
    leftOut: row.left_out,
    keptBytes: row.kept_bytes,
    problem: row.problem,
    since: row.since,
    reveals: row.reveals,
  };
}

/** Whether the node does not relay reveals. Knots does not relay them. */
export async function areRevealsRefused(client: pg.Pool | pg.ClientBase): Promise<boolean> {
  const { rowCount } = await client.query("SELECT FROM chain.mempool_state WHERE reveals = 'refused'");
  return rowCount !== 0;
}

/** A position in a list of pending rows. The page begins after this row. */
export interface PendingCursor {
  readonly position: number;
  readonly index: number;
}

/** A pending location. `null` if it is not an output. */
export interface PendingOutput {
  /** chain.mempool_transfers.place */
  readonly place: number;
  readonly vout: number | null;
  readonly sat_offset: number | null;
  readonly value: Sats | null;
  readonly script: Buffer | null;
}

interface PendingRow extends PendingOutput {
  readonly position: number;
  readonly txid: Txid;
  readonly first_seen: Date;
  readonly fee: Sats | null;
  readonly vsize: number;
  /** Txids of the replaced transactions, 32 bytes each. */
  readonly replaces: Buffer;
}

export interface PendingInscriptionRow extends PendingRow {
  readonly index: number;
  readonly input: number;
  readonly content_type: Buffer | null;
  readonly content_length: number | null;
  readonly sha256: Buffer | null;
  readonly content_encoding: Buffer | null;
  readonly metaprotocol: Buffer | null;
  readonly delegate: Buffer | null;
  readonly claimed_parents: Buffer | null;
  readonly has_metadata: boolean;
}

/** Whether a transaction of the mempool would reveal this inscription. */
export async function isPendingInscription(client: pg.ClientBase, id: InscriptionId): Promise<boolean> {
  const { rowCount } = await client.query(
    'SELECT FROM chain.pending_inscriptions WHERE txid = $1 AND index::bigint = $2',
    [id.txid, id.index],
  );
  return rowCount !== null && rowCount > 0;
}

/**
 * Whether the stored mempool has this transaction. Only transactions that reveal, move or sell inscriptions, or that
 * have runes, are stored.
 */
export async function isPendingTransaction(client: pg.ClientBase, txid: Txid): Promise<boolean> {
  const { rowCount } = await client.query('SELECT FROM chain.pending_transactions WHERE txid = $1', [
    Buffer.from(txid),
  ]);
  return rowCount === 1;
}

/** Pending inscriptions in the order in which they were seen, beginning after a cursor. */
export async function pendingInscriptions(
  client: pg.ClientBase,
  after: PendingCursor,
  limit: number,
): Promise<PendingInscriptionRow[]> {
  const { rows } = await client.query<PendingInscriptionRow>(
    `SELECT position, index, txid, input, content_type, octet_length(body) AS content_length, sha256,
            content_encoding, metaprotocol, delegate, claimed_parents, metadata_json IS NOT NULL AS has_metadata,
            place, vout, sat_offset, value, script, first_seen, fee, vsize, replaces
       FROM chain.pending_inscriptions WHERE (position, index) > ($1::bigint, $2::integer)
      ORDER BY position, index LIMIT $3`,
    [after.position, after.index, limit],
  );
  return rows;
}

export interface PendingTransferRow extends PendingRow {
  readonly inscription_txid: Txid;
  readonly inscription_index: number;
  readonly from_txid: Txid;
  readonly from_vout: number;
  readonly from_offset: number;
  readonly from_script: Buffer | null;
}

export interface TransferFilter {
  /** Script of the sender's or the receiver's output. */
  readonly script: Uint8Array | null;
  readonly inscription: InscriptionId | null;
}

/** A position in a list of pending transfers. The page begins after this row. */
export interface TransferCursor {
  readonly position: number;
  readonly inscription: InscriptionId;
}

/** Pending transfers in the order in which they were seen, beginning after a cursor. */
export async function pendingTransfers(
  client: pg.ClientBase,
  { script, inscription }: TransferFilter,
  after: TransferCursor | null,
  limit: number,
): Promise<PendingTransferRow[]> {
  const { rows } = await client.query<PendingTransferRow>(
    `SELECT position, txid, inscription_txid, inscription_index, from_txid, from_vout, from_offset, from_script,
            place, vout, sat_offset, value, script, first_seen, fee, vsize, replaces
       FROM chain.pending_transfers
      WHERE ($1::bytea IS NULL OR script = $1 OR from_script = $1)
        AND ($2::bytea IS NULL OR (inscription_txid = $2 AND inscription_index = $3::integer))
        AND (position, inscription_txid, inscription_index) > ($4::bigint, $5::bytea, $6::integer)
      ORDER BY position, inscription_txid, inscription_index LIMIT $7`,
    [
      script === null ? null : Buffer.from(script),
      inscription === null ? null : Buffer.from(inscription.txid),
      inscription?.index ?? null,
      after?.position ?? 0,
      Buffer.from(after?.inscription.txid ?? []),
      after?.inscription.index ?? 0,
      limit,
    ],
  );
  return rows;
}

/** The pending transfers of one transaction. */
export async function pendingTransfersOf(
  client: pg.ClientBase,
  position: number,
  limit: number,
): Promise<PendingTransferRow[]> {
  const { rows } = await client.query<PendingTransferRow>(
    `SELECT position, txid, inscription_txid, inscription_index, from_txid, from_vout, from_offset, from_script,
            place, vout, sat_offset, value, script, first_seen, fee, vsize, replaces
       FROM chain.pending_transfers WHERE position = $1
      ORDER BY inscription_txid, inscription_index LIMIT $2`,
    [position, limit],
  );
  return rows;
}

export interface DepartureRow {
  readonly position: number;
  readonly txid: Txid;
  readonly reason: 'replaced' | 'evicted';
  readonly replaced_by: Txid | null;
  readonly left_at: Date;
}

/** Stored transactions that left the mempool without being mined, newest first, beginning before a position. */
export async function departures(
  client: pg.ClientBase,
  before: number,
  limit: number,
): Promise<DepartureRow[]> {
  const { rows } = await client.query<DepartureRow>(
    `SELECT position, txid, reason, replaced_by, left_at FROM chain.mempool_departures
      WHERE position < $1 ORDER BY position DESC LIMIT $2`,
    [before, limit],
  );
  return rows;
}
