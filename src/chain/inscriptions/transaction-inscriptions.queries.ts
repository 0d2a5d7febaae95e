import type { ClientBase } from 'pg';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/** An inscription that a transaction revealed, and its first location. */
export interface RevealedInscription {
  readonly key: InscriptionKey;
  /**
   * The kind of the first location. `fee` means that the sat was paid as fee, so that it went to the coinbase or was
   * lost.
   */
  readonly place: 'output' | 'fee' | 'unbound' | 'unknown';
  readonly vout: number | null;
  readonly next: NextMove | null;
}

/**
 * The next move of an inscription: the block that spent its output, and the transaction whose output holds it
 * afterwards.
 */
export interface NextMove {
  readonly height: Height;
  /** `null` if the inscription was lost in the fee, or if its new location is unknown. */
  readonly txid: Txid | null;
}

/** An inscription that a transaction moved. */
export interface MovedInscription extends Omit<RevealedInscription, 'place'> {
  readonly place: 'output' | 'fee' | 'unknown';
  /** The spent output. `null` if another transaction of the same block revealed the inscription into the fee. */
  readonly from: Outpoint | null;
  readonly value: Sats | null;
  readonly script: Uint8Array | null;
}

interface NextRow {
  next_height: Height | null;
  next_txid: Txid | null;
}

const nextMove = ({ next_height: height, next_txid: txid }: NextRow): NextMove | null =>
  height === null ? null : { height, txid };

/** SQL: joins the row of `chain.locations` that follows the row `at`, as `next`. Costs one index look-up. */
const nextOf = (at: string): string => `LEFT JOIN LATERAL (
       SELECT n.key, n.height, n.step, n.txid, n.vout, n.spent_height FROM chain.locations n
       WHERE n.key = ${at}.key AND (n.height, n.step) > (${at}.height, ${at}.step)
       ORDER BY n.height, n.step LIMIT 1
     )`;

const places = ['output', 'fee', 'unbound'] as const;

/** The inscriptions that a transaction revealed, in the order of their index in the transaction. */
export async function revealedBy(
  client: ClientBase,
  txid: Txid,
  limit: number,
): Promise<RevealedInscription[]> {
  const { rows } = await client.query<
    NextRow & { key: InscriptionKey; place: number | null; made_by: Txid | null; vout: number | null }
  >(
    `SELECT i.key, l.place, l.txid AS made_by, l.vout, coalesce(next.height, l.spent_height) AS next_height, next.txid AS next_txid
     FROM chain.inscriptions i
     LEFT JOIN LATERAL (
       SELECT key, height, step, place, txid, vout, spent_height FROM chain.locations
       WHERE key = i.key ORDER BY height, step LIMIT 1
     ) AS l ON true
     ${nextOf('l')} AS next ON true
     WHERE i.txid = $1 ORDER BY i.index LIMIT $2`,
    [Buffer.from(txid), limit],
  );
  return rows.map(({ key, vout, ...row }) => {
    if (row.place === null) return { key, place: 'unknown', vout: null, next: null };
    // rows of a reveal have no txid, except if the coinbase created the output
    if (row.made_by !== null) return { key, place: 'fee', vout: null, next: null };
    return { key, place: places[row.place] ?? 'unknown', vout, next: nextMove(row) };
  });
}

/** A transaction of an indexed block. */
export interface BlockTransaction {
  readonly txid: Txid;
  readonly height: Height;
  /**
   * Outputs that the transaction spends. Empty if its bytes are unknown. Inscriptions that it lost in its fee are then
   * not found.
   */
  readonly inputs: readonly Outpoint[];
}

interface MovedRow extends NextRow {
  key: InscriptionKey;
  from_txid: Txid | null;
  from_vout: number | null;
  value: Sats | null;
  script: Buffer | null;
  to_txid: Txid | null;
  vout: number | null;
}

/**
 * The inscriptions that a transaction moved, by key. `null` while the index that finds moves is being built. Reads all
 * moves of the block: a few thousand rows, in a few milliseconds.
 */
export async function movedBy(
  client: ClientBase,
  { txid, height, inputs }: BlockTransaction,
  limit: number,
): Promise<MovedInscription[] | null> {
  if (!(await builtIndexes(client, ['locations_spent'])).has('locations_spent')) return null;
  const { rows } = await client.query<MovedRow>(
    `SELECT was.key, was.from_txid, was.vout AS from_vout, was.value, was.script,
       made.txid AS to_txid, made.vout, coalesce(next.height, made.spent_height) AS next_height,
       next.txid AS next_txid
     FROM (
       SELECT l.key, l.height, l.step, l.vout, l.value, l.script, coalesce(l.txid, i.txid) AS from_txid
       FROM chain.locations l JOIN chain.inscriptions i USING (key)
       WHERE l.spent_height = $2 AND l.place = 0
     ) AS was
     ${nextOf('was')} AS made ON made.height = $2
     ${nextOf('made')} AS next ON made.txid = $1
     WHERE made.txid = $1
       OR (was.from_txid, was.vout::bigint) IN (SELECT * FROM unnest($3::bytea[], $4::bigint[]))
     UNION ALL
     SELECT made.key, NULL, NULL, made.value, made.script, made.txid, made.vout,
       coalesce(next.height, made.spent_height), next.txid
     FROM chain.blocks b
     JOIN chain.inscriptions i ON i.key >= b.first_key AND i.key < b.next_key
     JOIN chain.locations made ON made.key = i.key AND made.height = b.height AND made.txid = $1
     ${nextOf('made')} AS next ON true
     WHERE b.height = $2 AND NOT EXISTS (
       SELECT FROM chain.locations l
       WHERE l.key = made.key AND (l.height, l.step) < (made.height, made.step))
     ORDER BY key LIMIT $5`,
    [
      Buffer.from(txid),
      height,
      inputs.map((input) => Buffer.from(input.txid)),
      inputs.map(({ vout }) => vout),
      limit,
    ],
  );
  return rows.map((row) => {
    const isHere = row.to_txid !== null && Buffer.compare(row.to_txid, txid) === 0;
    return {
      key: row.key,
      from:
        row.from_txid === null || row.from_vout === null
          ? null
          : { txid: row.from_txid, vout: row.from_vout },
      value: row.value,
      script: row.script,
      place: isHere ? 'output' : 'fee',
      vout: isHere ? row.vout : null,
      next: isHere ? nextMove(row) : null,
    };
  });
}

/** Id and number of an inscription, for links. */
export interface NamedInscription extends InscriptionId {
  readonly number: number | null;
}

/** Ids and numbers of inscriptions by key. */
export async function inscriptionNames(
  client: ClientBase,
  keys: readonly InscriptionKey[],
): Promise<ReadonlyMap<InscriptionKey, NamedInscription>> {
  const { rows } = await client.query<NamedInscription & { key: InscriptionKey }>(
    'SELECT key, txid, index, number FROM chain.inscriptions WHERE key = ANY($1::integer[])',
    [keys],
  );
  return new Map(rows.map(({ key, ...name }) => [key, name]));
}
