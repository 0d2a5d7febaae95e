import type { ClientBase, Pool } from 'pg';
import type { HeldInscription, Holdings, RuneAmount } from '#kernel/contracts/holdings.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import type { Outpoint } from './output.queries.ts';

/** An output that was received in a block. The index may lack this block. */
export interface ReceivedOutput extends Outpoint {
  /** The block. `null` if the output is in no block. */
  readonly block: { readonly height: Height; readonly hash: Uint8Array } | null;
}

/** An output that is expected to receive an inscription. */
export interface ExpectedOutput extends ReceivedOutput {
  readonly script: Uint8Array;
  readonly inscription: InscriptionId;
}

/** The data that the index has about an output that is expected to receive an inscription. */
export interface ReceivedInscription {
  /** True if the index has the block of the output. */
  readonly isIndexed: boolean;
  /** True if the output received the expected inscription, wherever the inscription is now. */
  readonly isExpected: boolean;
  /** True if the expected inscription is still in the output. */
  readonly isThere: boolean;
  /** All inscriptions in the output, including the expected inscription if it is still there. */
  readonly inscriptions: readonly HeldInscription[];
  /** The runes in the output. `null` if runes are unknown here. */
  readonly runes: readonly RuneAmount[] | null;
}

interface RunesRow extends KnownRunesRow {
  readonly is_indexed: boolean;
}

interface KnownRunesRow {
  readonly knows_runes: boolean;
  readonly runes: readonly { readonly height: number; readonly tx: number; readonly amount: string }[];
}

interface Row extends RunesRow {
  readonly is_expected: boolean;
  readonly is_there: boolean;
  readonly inscriptions: readonly InscriptionRow[] | null;
}

/** An inscription in an output, as JSON. */
interface InscriptionRow {
  /** In hex, internal order. */
  readonly txid: string;
  readonly index: number;
  readonly offset: number;
}

/**
 * Reads `ReceivedInscription` for outputs, in one statement. The result has the order of the outputs. Runes are known
 * only for unspent outputs.
 */
export async function receivedInscriptions(
  client: Pool | ClientBase,
  outputs: readonly ExpectedOutput[],
): Promise<ReceivedInscription[]> {
  const { rows } = await client.query<Row>(receivedSql, [
    ...columnsOf(outputs),
    outputs.map(({ inscription }) => Buffer.from(inscription.txid)),
    outputs.map(({ inscription }) => inscription.index),
    outputs.map(({ script }) => Buffer.from(script)),
  ]);
  return rows.map((row) => ({
    isIndexed: row.is_indexed,
    isExpected: row.is_expected,
    isThere: row.is_there,
    inscriptions: inscriptionsOf(row.inscriptions),
    runes: runesOf(row),
  }));
}

/** The data that the index has about an output of a script. */
export interface HeldOutput {
  /** True if the index has the block of the output. */
  readonly isIndexed: boolean;
  /** The inscriptions in the output. Empty if the output is spent. */
  readonly inscriptions: readonly HeldInscription[];
  /** True if one of the named inscriptions is in the output. */
  readonly isNamed: boolean;
  /** The runes in the output. `null` if runes are unknown here. */
  readonly runes: readonly RuneAmount[] | null;
}

/**
 * Reads `HeldOutput` for outputs of one script, in one statement. The result has the order of the outputs. Runes are
 * known only for unspent outputs.
 */
export async function heldAtScript(
  client: Pool | ClientBase,
  script: Uint8Array,
  outputs: readonly ReceivedOutput[],
  named: readonly InscriptionId[],
): Promise<HeldOutput[]> {
  const { rows } = await client.query<
    RunesRow & { inscriptions: readonly InscriptionRow[] | null; is_named: boolean }
  >(heldSql, [
    ...columnsOf(outputs),
    Buffer.from(script),
    named.map(({ txid }) => Buffer.from(txid)),
    named.map(({ index }) => index),
  ]);
  return rows.map((row) => ({
    isIndexed: row.is_indexed,
    inscriptions: inscriptionsOf(row.inscriptions),
    isNamed: row.is_named,
    runes: runesOf(row),
  }));
}

const columnsOf = (outputs: readonly ReceivedOutput[]): unknown[] => [
  outputs.map(({ txid }) => Buffer.from(txid)),
  outputs.map(({ vout }) => vout),
  outputs.map(({ block }) => block?.height ?? null),
  outputs.map(({ block }) => (block === null ? null : Buffer.from(block.hash))),
];

const inscriptionsOf = (rows: readonly InscriptionRow[] | null): HeldInscription[] =>
  (rows ?? []).map(({ txid, index, offset }) => ({
    id: formatInscriptionId(trustedTxid(Buffer.from(txid, 'hex')), index),
    offset: BigInt(offset),
  }));

const runesOf = ({ knows_runes: isKnown, runes }: KnownRunesRow): RuneAmount[] | null =>
  isKnown
    ? runes.map(({ height, tx, amount }) => ({
        id: { block: asU128(BigInt(height)), tx },
        amount: asU128(BigInt(amount)),
      }))
    : null;

/**
 * SQL: a column that tells whether the index has the block of a row `o`, which consists of an outpoint and its block.
 */
const indexedSql = `EXISTS (SELECT FROM chain.blocks AS b WHERE b.height = o.height AND b.hash = o.hash) AS is_indexed`;

/** SQL: columns about the runes of a row `o`, which is an outpoint. */
const runesSql = `EXISTS (SELECT FROM chain.derived_tables AS d WHERE d.name = 'runes' AND d.is_followed)
      AND coalesce((SELECT anchored FROM chain.rune_blocks ORDER BY height DESC LIMIT 1), true) AS knows_runes,
    (SELECT coalesce(jsonb_agg(jsonb_build_object('height', r.height, 'tx', r.tx_index, 'amount', b.amount::text)
                               ORDER BY r.key), '[]')
       FROM chain.rune_balances AS b JOIN chain.runes AS r ON r.key = b.rune_key
      WHERE chain.hash64(b.txid, b.vout) = chain.hash64(o.txid, o.vout) AND b.spent_height IS NULL
        AND b.txid = o.txid AND b.vout = o.vout) AS runes`;

/** SQL: the columns of an `InscriptionRow`, from a row of an inscription `i` and its location `l`. */
const inscriptionSql = `jsonb_build_object('txid', encode(i.txid, 'hex'), 'index', i.index, 'offset', l.sat_offset)`;

const receivedSql = `SELECT ${indexedSql}, ${runesSql},
    place.key IS NOT NULL AS is_expected,
    place.key IS NOT NULL AND place.spent_height IS NULL AS is_there,
    (SELECT jsonb_agg(${inscriptionSql}) FROM chain.locations AS l JOIN chain.inscriptions AS i ON i.key = l.key
      WHERE chain.hash32(l.script) = chain.hash32(o.script) AND l.spent_height IS NULL AND l.script = o.script
        AND l.place = 0 AND l.vout = o.vout AND coalesce(l.txid, i.txid) = o.txid) AS inscriptions
  FROM unnest($1::bytea[], $2::bigint[], $3::integer[], $4::bytea[], $5::bytea[], $6::bigint[],
              $7::bytea[])
       WITH ORDINALITY AS o (txid, vout, height, hash, expected_txid, expected_index, script, ordinal)
  LEFT JOIN LATERAL (
    SELECT l.key, l.spent_height FROM chain.inscriptions AS i JOIN chain.locations AS l ON l.key = i.key
     WHERE i.txid = o.expected_txid AND i.index = o.expected_index
       AND l.place = 0 AND coalesce(l.txid, i.txid) = o.txid AND l.vout = o.vout
     ORDER BY l.height DESC, l.step DESC LIMIT 1) AS place ON true
 ORDER BY o.ordinal`;

/** SQL: reads the holdings of a script only once, because anyone may send thousands of outputs to the script. */
const heldSql = `WITH held AS MATERIALIZED (
    SELECT coalesce(l.txid, i.txid) AS txid, l.vout::bigint AS vout, jsonb_agg(${inscriptionSql}) AS inscriptions,
           bool_or(EXISTS (SELECT FROM unnest($6::bytea[], $7::bigint[]) AS n (txid, index)
                            WHERE n.txid = i.txid AND n.index = i.index)) AS is_named
      FROM chain.locations AS l JOIN chain.inscriptions AS i ON i.key = l.key
     WHERE chain.hash32(l.script) = chain.hash32($5::bytea) AND l.spent_height IS NULL AND l.script = $5
       AND l.place = 0
       AND (coalesce(l.txid, i.txid), l.vout) IN (SELECT txid, vout FROM unnest($1::bytea[], $2::bigint[]) AS a (txid, vout))
     GROUP BY 1, 2)
  SELECT ${indexedSql}, ${runesSql}, h.inscriptions, coalesce(h.is_named, false) AS is_named
    FROM unnest($1::bytea[], $2::bigint[], $3::integer[], $4::bytea[])
         WITH ORDINALITY AS o (txid, vout, height, hash, ordinal)
    LEFT JOIN held AS h ON h.txid = o.txid AND h.vout = o.vout
   ORDER BY o.ordinal`;

/** A row of `heldColumns`. */
export interface HeldRow extends KnownRunesRow {
  readonly inscriptions: readonly InscriptionRow[] | null;
}

/**
 * SQL: a table `held` with the inscriptions of unspent outputs, by txid and vout. Each script is looked up once,
 * because anyone may send thousands of outputs to one script.
 *
 * @param asked a table with the columns txid, vout and script
 */
export const heldTable = (asked: string): string => `held AS MATERIALIZED (
    SELECT coalesce(l.txid, i.txid) AS txid, l.vout::bigint AS vout, jsonb_agg(${inscriptionSql}) AS inscriptions
      FROM (SELECT DISTINCT script FROM ${asked}) AS a
      JOIN chain.locations AS l ON chain.hash32(l.script) = chain.hash32(a.script) AND l.spent_height IS NULL
       AND l.script = a.script AND l.place = 0
      JOIN chain.inscriptions AS i ON i.key = l.key
     WHERE (coalesce(l.txid, i.txid), l.vout) IN (SELECT txid, vout FROM ${asked})
     GROUP BY 1, 2)`;

/**
 * SQL: the columns of a `HeldRow`. They come from an outpoint `o` and from its row `h` of the table `held`, if there is
 * such a row.
 */
export const heldColumns = `${runesSql}, h.inscriptions`;

/** Contents of an output, from a row of the index. The index must have the block of the output. */
export const heldBy = (row: HeldRow): Holdings & Pick<HeldOutput, 'inscriptions'> => ({
  inscriptions: inscriptionsOf(row.inscriptions),
  runes: runesOf(row),
});
