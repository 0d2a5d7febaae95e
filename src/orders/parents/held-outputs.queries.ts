import type pg from 'pg';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import type { HeldRune } from './rune-route.ts';

/** What the index knows of an output that came to a deposit. */
export interface HeldOutput {
  /** It has the very block that pays it. */
  readonly isIndexed: boolean;
  /** The parent came with it, wherever it is now. */
  readonly isParent: boolean;
  /** The parent still lies there. */
  readonly isThere: boolean;
  /** An inscription lies there, the parent or another one, or a rune. */
  readonly isHolding: boolean;
  /** Null: runes are not known here. */
  readonly runes: readonly HeldRune[] | null;
}

interface RunesRow {
  readonly is_indexed: boolean;
  readonly knows_runes: boolean;
  readonly runes: readonly { readonly height: number; readonly tx: number; readonly amount: string }[];
}

interface Row extends RunesRow {
  readonly is_parent: boolean;
  readonly is_there: boolean;
  readonly has_inscription: boolean;
}

/**
 * What the index knows of outputs, each with the inscription that is expected in it, in their order. Runes are those of
 * outputs that nothing has spent.
 */
export async function heldOutputs(
  client: pg.Pool | pg.ClientBase,
  outputs: readonly { readonly payment: WatchedPayment; readonly parent: InscriptionId }[],
): Promise<HeldOutput[]> {
  const { rows } = await client.query<Row>(heldSql, [
    ...outpointsOf(outputs.map(({ payment }) => payment)),
    outputs.map(({ parent }) => Buffer.from(parent.txid)),
    outputs.map(({ parent }) => parent.index),
    outputs.map(({ payment }) => Buffer.from(payment.script)),
  ]);
  return rows.map((row) => ({
    isIndexed: row.is_indexed,
    isParent: row.is_parent,
    isThere: row.is_there,
    isHolding: row.has_inscription || row.runes.length > 0,
    runes: runesOf(row),
  }));
}

/**
 * The runes of payments that nothing has spent, all together. `unindexed`: the index lacks the block of one; null:
 * runes are not known here.
 */
export async function runesOfPayments(
  client: pg.Pool | pg.ClientBase,
  payments: readonly WatchedPayment[],
): Promise<readonly HeldRune[] | 'unindexed' | null> {
  const { rows } = await client.query<RunesRow>(
    `SELECT ${runesSql}
       FROM unnest($1::bytea[], $2::bigint[], $3::integer[], $4::bytea[]) AS o (txid, vout, height, hash)`,
    outpointsOf(payments),
  );
  if (!rows.every((row) => row.is_indexed)) return 'unindexed';
  const held = rows.map(runesOf);
  return held.includes(null) ? null : held.flatMap((runes) => runes ?? []);
}

const outpointsOf = (payments: readonly WatchedPayment[]): unknown[] => [
  payments.map(({ txid }) => Buffer.from(txid)),
  payments.map(({ vout }) => vout),
  payments.map(({ block }) => block?.height ?? null),
  payments.map(({ block }) => (block === null ? null : Buffer.from(block.hash))),
];

const runesOf = ({ knows_runes: isKnown, runes }: RunesRow): HeldRune[] | null =>
  isKnown
    ? runes.map(({ height, tx, amount }) => ({
        id: { block: asU128(BigInt(height)), tx },
        amount: asU128(BigInt(amount)),
      }))
    : null;

/** Of `o`: an outpoint and its block. */
const runesSql = `EXISTS (SELECT FROM chain.blocks AS b WHERE b.height = o.height AND b.hash = o.hash) AS is_indexed,
    EXISTS (SELECT FROM chain.derived_tables AS d WHERE d.name = 'runes' AND d.is_followed)
      AND coalesce((SELECT anchored FROM chain.rune_blocks ORDER BY height DESC LIMIT 1), true) AS knows_runes,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('height', r.height, 'tx', r.tx_index, 'amount', b.amount::text)
                               ORDER BY r.key), '[]')
       FROM chain.rune_balances AS b JOIN chain.runes AS r ON r.key = b.rune_key
      WHERE chain.hash64(b.txid, b.vout) = chain.hash64(o.txid, o.vout) AND b.spent_height IS NULL
        AND b.txid = o.txid AND b.vout = o.vout) AS runes`;

const heldSql = `SELECT ${runesSql},
    place.key IS NOT NULL AS is_parent,
    place.key IS NOT NULL AND place.spent_height IS NULL AS is_there,
    EXISTS (SELECT FROM chain.locations AS l JOIN chain.inscriptions AS i ON i.key = l.key
             WHERE chain.hash32(l.script) = chain.hash32(o.script) AND l.spent_height IS NULL AND l.script = o.script
               AND l.place = 0 AND l.vout = o.vout AND coalesce(l.txid, i.txid) = o.txid) AS has_inscription
  FROM unnest($1::bytea[], $2::bigint[], $3::integer[], $4::bytea[], $5::bytea[], $6::bigint[],
              $7::bytea[])
       WITH ORDINALITY AS o (txid, vout, height, hash, parent_txid, parent_index, script, ordinal)
  LEFT JOIN LATERAL (
    SELECT l.key, l.spent_height FROM chain.inscriptions AS i JOIN chain.locations AS l ON l.key = i.key
     WHERE i.txid = o.parent_txid AND i.index = o.parent_index
       AND l.place = 0 AND coalesce(l.txid, i.txid) = o.txid AND l.vout = o.vout
     ORDER BY l.height DESC, l.step DESC LIMIT 1) AS place ON true
 ORDER BY o.ordinal`;
