import type { ClientBase } from 'pg';
import { type BlockHash, displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/** An event in the history of an inscription: its reveal or a move. */
export interface Transfer {
  /**
   * Kind of the event. If the reveal itself burned or lost the inscription or left it unbound, the kind is `burned`,
   * `lost` or `unbound`; `from` is `null` then.
   */
  readonly kind: 'reveal' | 'transfer' | 'burned' | 'lost' | 'unbound';
  readonly height: Height;
  /** Index of the transaction within the block. The coinbase is counted as the last transaction. */
  readonly step: number;
  readonly blockHash: BlockHash;
  /** Unix seconds of the block's header. */
  readonly timestamp: number;
  /**
   * The transaction that created the output. For a reveal it is the reveal transaction. `null` if a later transaction
   * lost the inscription in its fee.
   */
  readonly txid: Txid | null;
  /**
   * The previous location as `<txid>:<vout>:<offset>`. `null` if the inscription was revealed by this event, or if the
   * previous location is unknown.
   */
  readonly from: string | null;
  readonly to: string;
  readonly value: Sats | null;
  readonly script: Uint8Array | null;
  /** Script of `from`. `null` if there is no previous location, or if its script is unknown. */
  readonly formerScript: Uint8Array | null;
}

/** A position in the history of an inscription. A forged cursor may contain any two integers. */
export interface TransferPosition {
  readonly height: number;
  readonly step: number;
}

export interface TransferQuestion {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The page begins after this position. `null` if it begins with the first event. */
  readonly after: TransferPosition | null;
}

export interface TransferPage {
  readonly transfers: readonly Transfer[];
  readonly more: boolean;
}

interface LocationRow {
  height: Height;
  step: number;
  place: number;
  txid: Txid | null;
  vout: number | null;
  sat_offset: number;
  value: Sats | null;
  script: Buffer | null;
  hash: BlockHash;
  time: number;
}

const opReturn = 0x6a;
const nullTxid = '0'.repeat(64);

/**
 * A page of the history of an inscription. `null` if it is not indexed. Reads the primary key twice: for the page, and
 * for one more row.
 */
export async function transfersOf(
  client: ClientBase,
  id: InscriptionId,
  { order, limit, after }: TransferQuestion,
): Promise<TransferPage | null> {
  const { rows: found } = await client.query<{ key: InscriptionKey; height: Height }>(
    'SELECT key, height FROM chain.inscriptions WHERE txid = $1 AND index = $2',
    [Buffer.from(id.txid), id.index],
  );
  const [inscription] = found;
  if (inscription === undefined) return null;
  // the origin of a transfer is in the row before it, so one more row is read for the earliest transfer of the page
  const isAscending = order === 'asc';
  const comparison = isAscending ? '>=' : '<';
  const start =
    after ?? (isAscending ? { height: -1, step: -1 } : { height: 2 ** 31 - 1, step: 2 ** 31 - 1 });
  const extra = isAscending && after !== null ? 2 : 1;
  const { rows } = await client.query<LocationRow>(
    `SELECT l.height, l.step, l.place, l.txid, l.vout, l.sat_offset, l.value, l.script, b.hash, b.time
     FROM chain.locations l JOIN chain.blocks b ON b.height = l.height
     WHERE l.key = $1 AND (l.height, l.step) ${comparison} ($2, $3)
     ORDER BY l.height ${order}, l.step ${order} LIMIT $4`,
    [inscription.key, start.height, start.step, limit + extra],
  );
  const isBefore = (row: LocationRow): boolean =>
    isAscending && after !== null && row.height === after.height && row.step === after.step;
  const shown = rows.filter((row) => !isBefore(row)).slice(0, limit);
  const ascending = isAscending ? rows : rows.toReversed();
  const transfers = shown.map((row) => {
    const before = ascending[ascending.indexOf(row) - 1] ?? null;
    return transferOf(row, before, id, inscription.height);
  });
  return { transfers, more: rows.filter((row) => !isBefore(row)).length > limit };
}

function transferOf(
  row: LocationRow,
  before: LocationRow | null,
  id: InscriptionId,
  revealHeight: Height,
): Transfer {
  const isReveal = before === null && row.height === revealHeight;
  return {
    kind: kindOf(row, isReveal),
    height: row.height,
    step: row.step,
    blockHash: row.hash,
    timestamp: row.time,
    txid: row.txid ?? (isReveal ? id.txid : null),
    from: before === null ? null : satpoint(before, id),
    to: satpoint(row, id),
    value: row.value,
    script: row.script,
    formerScript: before?.script ?? null,
  };
}

function kindOf({ place, script }: LocationRow, isReveal: boolean): Transfer['kind'] {
  if (place === 1) return 'lost';
  if (place === 2) return 'unbound';
  if (script?.[0] === opReturn) return 'burned';
  return isReveal ? 'reveal' : 'transfer';
}

function satpoint({ place, txid, vout, sat_offset: offset }: LocationRow, id: InscriptionId): string {
  if (place === 1) return `${nullTxid}:4294967295:${offset}`;
  if (place === 2) return `${nullTxid}:0:${offset}`;
  return `${displayHash(txid ?? id.txid)}:${vout ?? 0}:${offset}`;
}
