import type { ClientBase } from 'pg';
import { type InscriptionKind, kindCondition } from '#chain/inscriptions/inscription-filter.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';
import type { DepartureRow, PendingInscriptionRow } from './pending.queries.ts';
import { pendingCountedMax } from './pending-count.queries.ts';

/**
 * A transaction of the mempool that the index stores because it reveals, moves or sells inscriptions, or involves
 * runes.
 */
export interface PendingTransaction {
  readonly position: number;
  readonly txid: Txid;
  readonly firstSeen: Date;
  readonly fee: Sats | null;
  readonly vsize: number;
  /** Txids of the replaced transactions, 32 bytes each. */
  readonly replaces: Buffer;
}

/**
 * A pending transaction. `null` if no followed mempool has it, if it is in a block, or if the index does not store it.
 */
export async function pendingTransaction(client: ClientBase, txid: Txid): Promise<PendingTransaction | null> {
  const { rows } = await client.query<PendingTransaction>(
    `SELECT position, txid, first_seen AS "firstSeen", fee, vsize, replaces
     FROM chain.pending_transactions WHERE txid = $1`,
    [Buffer.from(txid)],
  );
  return rows[0] ?? null;
}

/** A pending inscription, as lists show it. */
export interface PendingSummary {
  readonly position: number;
  readonly id: InscriptionId;
  readonly contentType: string | null;
  readonly sizeBytes: number | null;
  /** The beginning of a text. */
  readonly text: string | null;
  readonly delegate: Uint8Array | null;
  /** Index of the output that would hold the inscription. `null` if there is no such output, or if it is unknown. */
  readonly vout: number | null;
  readonly firstSeen: Date;
  readonly fee: Sats | null;
  readonly vsize: number;
}

interface SummaryRow {
  position: number;
  txid: Txid;
  index: number;
  content_type: Buffer | null;
  size_bytes: number | null;
  head: Buffer | null;
  delegate: Buffer | null;
  vout: number | null;
  first_seen: Date;
  fee: Sats | null;
  vsize: number;
}

/** Maximum bytes of a text that a card can show. */
const snippetBytes = 400;

const summaryColumns = `p.position, p.txid, p.index, p.content_type, octet_length(p.body) AS size_bytes,
  CASE WHEN p.text <> 0 AND p.variant & 7 = 0 THEN substring(p.body FROM 1 FOR ${snippetBytes}) END AS head,
  p.delegate, p.vout, p.first_seen, p.fee, p.vsize`;

const summaryOf = (row: SummaryRow): PendingSummary => ({
  position: row.position,
  id: { txid: row.txid, index: row.index },
  contentType: utf8OrNull(row.content_type),
  sizeBytes: row.size_bytes,
  // the cut at the end may divide a character
  text:
    row.head === null
      ? null
      : new TextDecoder('utf-8', { ignoreBOM: true }).decode(row.head, { stream: true }),
  delegate: row.delegate,
  vout: row.vout,
  firstSeen: row.first_seen,
  fee: row.fee,
  vsize: row.vsize,
});

/** The pending inscriptions of a transaction, in the order of their index in the transaction. */
export async function pendingInscriptionsOf(
  client: ClientBase,
  txid: Txid,
  limit: number,
): Promise<PendingSummary[]> {
  const { rows } = await client.query<SummaryRow>(
    `SELECT ${summaryColumns} FROM chain.pending_inscriptions p WHERE p.txid = $1 ORDER BY p.index LIMIT $2`,
    [Buffer.from(txid), limit],
  );
  return rows.map(summaryOf);
}

/** Pending inscriptions, newest first, beginning before a position. */
export async function newestPendingInscriptions(
  client: ClientBase,
  before: number,
  limit: number,
): Promise<PendingSummary[]> {
  const { rows } = await client.query<SummaryRow>(
    `SELECT ${summaryColumns} FROM chain.pending_inscriptions p
     WHERE p.position < $1 ORDER BY p.position DESC, p.index LIMIT $2`,
    [before, limit],
  );
  return rows.map(summaryOf);
}

/**
 * Maximum number of rows that are checked for a page of one kind. This takes some 100 ms, as for lists of indexed
 * inscriptions.
 */
const lookedMax = 5_000;

/** Pending inscriptions of one kind, newest first, beginning before a position. */
export interface PendingOfKind {
  readonly pending: readonly PendingSummary[];
  /**
   * The position at which the check ended, if there may be more inscriptions of the kind. `null` if all were checked.
   */
  readonly lookedTo: number | null;
}

export async function newestPendingOfKind(
  client: ClientBase,
  kind: InscriptionKind,
  before: number,
  limit: number,
): Promise<PendingOfKind> {
  const looked = (columns: string): string => `SELECT ${columns} FROM chain.pending_inscriptions i
    WHERE i.position < $1 ORDER BY i.position DESC, i.index`;
  const { check, value } = kindCondition(kind);
  const { rows } = await client.query<SummaryRow>(
    `SELECT ${summaryColumns} FROM (
       SELECT i.* FROM (${looked('i.*')} LIMIT ${lookedMax}) i WHERE ${check.replaceAll('$1', '$3')}) p
     ORDER BY p.position DESC, p.index LIMIT $2`,
    [before, limit, value],
  );
  const pending = rows.map(summaryOf);
  if (rows.length === limit) return { pending, lookedTo: null };
  const { rows: last } = await client.query<{ position: number }>(
    `${looked('i.position')} OFFSET ${lookedMax - 1} LIMIT 1`,
    [before],
  );
  return { pending, lookedTo: last[0]?.position ?? null };
}

/**
 * The number of pending inscriptions, and how many of them pay a fee rate. Both counts end at `pendingCountedMax` + 1.
 */
export async function countPaying(
  client: ClientBase,
  feeRate: number,
): Promise<{ readonly count: number; readonly paying: number }> {
  const { rows } = await client.query<{ count: number; paying: number }>(
    `SELECT count(*)::integer AS count, count(*) FILTER (WHERE fee >= $1 * vsize)::integer AS paying
     FROM (SELECT fee, vsize FROM chain.pending_inscriptions LIMIT ${pendingCountedMax + 1}) AS counted`,
    [feeRate],
  );
  return rows[0] ?? { count: 0, paying: 0 };
}

/**
 * The newest pending inscriptions whose first output has a given script. Reads the complete list, whose size is bounded
 * (docs/mempool.md).
 */
export async function pendingInscriptionsTo(
  client: ClientBase,
  script: Uint8Array,
  limit: number,
): Promise<PendingSummary[]> {
  const { rows } = await client.query<SummaryRow>(
    `SELECT ${summaryColumns} FROM chain.pending_inscriptions p
     WHERE p.script = $1 ORDER BY p.position DESC, p.index LIMIT $2`,
    [Buffer.from(script), limit],
  );
  return rows.map(summaryOf);
}

/**
 * A pending inscription with all of its stored fields. Its title, traits and metadata are texts that strangers wrote.
 */
export interface PendingDetail extends PendingInscriptionRow {
  readonly metadataJson: string | null;
  readonly title: string | null;
}

/** A pending inscription. `null` if the inscription is not pending. */
export async function pendingInscription(
  client: ClientBase,
  { txid, index }: InscriptionId,
): Promise<PendingDetail | null> {
  const { rows } = await client.query<
    PendingInscriptionRow & { metadata_json: Buffer | null; raw_title: Buffer | null }
  >(
    `SELECT position, index, txid, input, content_type, octet_length(body) AS content_length, sha256,
            content_encoding, metaprotocol, delegate, claimed_parents, metadata_json IS NOT NULL AS has_metadata,
            place, vout, sat_offset, value, script, first_seen, fee, vsize, replaces, metadata_json, title AS raw_title
       FROM chain.pending_inscriptions WHERE txid = $1 AND index = $2`,
    [Buffer.from(txid), index],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { metadata_json: metadata, raw_title: title, ...shown } = row;
  return { ...shown, metadataJson: utf8OrNull(metadata), title: utf8OrNull(title) };
}

/** Why a stored transaction left the mempool without being mined. `null` if it has not left, or if it left long ago. */
export async function departureOf(client: ClientBase, txid: Txid): Promise<DepartureRow | null> {
  const { rows } = await client.query<DepartureRow>(
    `SELECT position, txid, reason, replaced_by, left_at FROM chain.mempool_departures
     WHERE txid = $1 ORDER BY position DESC LIMIT 1`,
    [Buffer.from(txid)],
  );
  return rows[0] ?? null;
}
