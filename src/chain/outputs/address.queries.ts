import type { ClientBase } from 'pg';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import { builtIndexes, requireIndexes } from '#chain/snapshot/built-indexes.ts';
import { rowsInTurns } from '#chain/snapshot/rows-in-turns.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { noSats, type Sats } from '#kernel/primitives/sats.ts';

/** An unspent output of an address. */
export interface AddressOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: Sats;
  readonly height: Height;
}

/**
 * A position in a list of outputs. The page begins after it. A forged cursor may contain any numbers that fit the types
 * of the columns.
 */
export interface OutputPosition {
  readonly height: number;
  readonly txid: Txid;
  readonly vout: number;
}

/** Whether every output of every block is indexed by its owner's script (--index-addresses). */
export async function hasAddressIndex(client: ClientBase): Promise<boolean> {
  return isComplete(client, 'outputs');
}

/**
 * SQL: whether a script has unspent outputs in the address index. `script` is an SQL expression. The result is false
 * without the address index and while it is being built, because the complete table would be read then.
 */
export const hasUnspentOutputs = (script: string): string =>
  `(CASE WHEN EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('chain.outputs_script') AND indisvalid)
     THEN EXISTS (SELECT FROM chain.outputs AS o
                   WHERE chain.hash64(o.script, 0) = chain.hash64(${script}, 0) AND o.script = ${script}
                     AND o.spent_height IS NULL)
     ELSE false END)`;

/**
 * SQL that forces Postgres to read along the one index, even if the planner misjudges an address with very many
 * outputs.
 */
const planSettings = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`;

/**
 * The unspent outputs of a script, at most `limit`, by height and then by outpoint. Needs the address index. The cost
 * depends on the returned rows, and on the outputs in the block of `after`. Must run in a snapshot, because it changes
 * the planner settings of its transaction. Throws `index_missing` during a first sync.
 */
export async function addressOutputs(
  client: ClientBase,
  script: Uint8Array,
  limit: number,
  after: OutputPosition | null = null,
): Promise<AddressOutput[]> {
  await requireIndexes(client, ['outputs_script'], 'owners');
  await client.query(planSettings);
  const { rows } = await client.query<AddressOutput>(
    `SELECT txid, vout, value, height FROM chain.outputs
     WHERE (chain.hash64(script, 0), height) >= (chain.hash64($1::bytea, 0), $3::integer)
       AND (chain.hash64(script, 0), height) <= (chain.hash64($1::bytea, 0), 2147483647)
       AND script = $1 AND spent_height IS NULL AND (height, txid, vout) > ($3, $4::bytea, $5::integer)
     ORDER BY chain.hash64(script, 0), height, txid, vout LIMIT $2`,
    [Buffer.from(script), limit, after?.height ?? 0, Buffer.from(after?.txid ?? []), after?.vout ?? -1],
  );
  return rows;
}

/** SQL: at most $2 unspent outputs of the script $1, read by their index. It is a part of a statement. */
const unspent = `(
       SELECT txid, vout, value, height FROM chain.outputs
       WHERE (chain.hash64(script, 0), height) >= (chain.hash64($1::bytea, 0), 0)
         AND (chain.hash64(script, 0), height) <= (chain.hash64($1::bytea, 0), 2147483647)
         AND script = $1 AND spent_height IS NULL
       ORDER BY chain.hash64(script, 0), height LIMIT $2
     ) AS unspent`;

/**
 * The largest unspent outputs of a script by value, at most `limit`, and whether there are more. Needs the address
 * index, and a snapshot of its own like `addressOutputs`. Throws `index_missing` like that function. Throws
 * `address_too_large` if there are more than `most` outputs. Postgres reads all outputs, and sends only the largest.
 */
export async function largestAddressOutputs(
  client: ClientBase,
  script: Uint8Array,
  { limit, most }: { readonly limit: number; readonly most: number },
): Promise<{ readonly outputs: AddressOutput[]; readonly isAll: boolean }> {
  await requireIndexes(client, ['outputs_script'], 'owners');
  await client.query(planSettings);
  const { rows } = await client.query<AddressOutput & { total: number }>(
    `SELECT txid, vout, value, height, count(*) OVER () AS total FROM ${unspent} ORDER BY value DESC, height, txid, vout LIMIT $3`,
    [Buffer.from(script), most + 1, limit],
  );
  const total = rows[0]?.total ?? 0;
  refuseLarge(total, most);
  return {
    outputs: rows.map(({ txid, vout, value, height }) => ({ txid, vout, value, height })),
    isAll: total === rows.length,
  };
}

/**
 * The number of unspent outputs of a script, and their sum in sats. Counts at most `most` + 1 outputs. Needs the
 * address index, and a snapshot of its own like `addressOutputs`. Throws `index_missing` like that function.
 */
export async function addressBalance(
  client: ClientBase,
  script: Uint8Array,
  most: number,
): Promise<{ outputs: number; sats: Sats }> {
  await requireIndexes(client, ['outputs_script'], 'owners');
  await client.query(planSettings);
  const { rows } = await client.query<{ outputs: number; sats: Sats }>(
    `SELECT count(*) AS outputs, coalesce(sum(value), 0)::bigint AS sats FROM ${unspent}`,
    [Buffer.from(script), most + 1],
  );
  return rows[0] ?? { outputs: 0, sats: noSats };
}

/**
 * The ways in which ord sorts outputs. `/address` sorts the vout as a number. `/outputs` sorts the vout as four bytes
 * in little endian, like ord's table. Postgres sorts the rows, because the event loop would need tens of milliseconds.
 */
export type OutputOrder = keyof typeof orders;
const orders = {
  number: 'txid, vout',
  bytes: 'txid, vout & 255, vout >> 8 & 255, vout >> 16 & 255, vout >> 24',
} as const;

/** A request for a complete list. A list with more than `most` rows is refused. */
interface WholeList {
  readonly order: OutputOrder;
  readonly most: number;
}

/**
 * All unspent outputs of a script, in parts. Needs the address index, and a snapshot of its own like `addressOutputs`.
 * Throws `index_missing` like that function. Throws `address_too_large` if there are too many outputs.
 */
export async function* allAddressOutputs(
  client: ClientBase,
  script: Uint8Array,
  { order, most }: WholeList,
): AsyncGenerator<AddressOutput[]> {
  await requireIndexes(client, ['outputs_script'], 'owners');
  await client.query(planSettings);
  const parts = rowsInTurns<AddressOutput & { total: number }>(
    client,
    `SELECT txid, vout, value, height, count(*) OVER () AS total FROM ${unspent} ORDER BY ${orders[order]}`,
    [Buffer.from(script), most + 1],
  );
  for await (const rows of parts) {
    refuseLarge(rows[0]?.total ?? 0, most);
    yield rows;
  }
}

/** An inscription, and the output that holds it. */
interface HeldInscription extends AddressOutput {
  readonly id: InscriptionId;
}

interface HeldRow extends AddressOutput {
  readonly id_txid: Txid;
  readonly id_index: number;
  readonly total: number;
}

/**
 * SQL: at most $2 inscriptions that are in outputs of a script, by key. Inscriptions with an unknown location are left
 * out.
 */
const held = `SELECT coalesce(l.txid, i.txid) AS txid, l.vout, l.value, l.height, i.txid AS id_txid, i.index AS id_index, l.key
  FROM (
    SELECT key, txid, vout, value, height FROM chain.locations
    WHERE (chain.hash32(script), key) >= (chain.hash32($1::bytea), 0)
      AND (chain.hash32(script), key) <= (chain.hash32($1::bytea), 2147483647)
      AND script = $1 AND spent_height IS NULL AND script IS NOT NULL
    ORDER BY chain.hash32(script), key LIMIT $2
  ) AS l JOIN chain.inscriptions i ON i.key = l.key`;

/** The number of inscriptions of a script. Counts at most `most` + 1. `null` until the index of owners is built. */
export async function heldCount(
  client: ClientBase,
  script: Uint8Array,
  most: number,
): Promise<number | null> {
  if (!(await builtIndexes(client, ['locations_owner'])).has('locations_owner')) return null;
  await client.query(planSettings);
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM (${held}) AS held`,
    [Buffer.from(script), most + 1],
  );
  return rows[0]?.count ?? 0;
}

/**
 * The inscriptions in unspent outputs of a script, in parts. Inscriptions with an unknown location are left out. The
 * inscriptions of an output are in the order of application. Works without the address index. Throws the errors of
 * `allAddressOutputs`.
 */
export async function* heldInscriptions(
  client: ClientBase,
  script: Uint8Array,
  { order, most }: WholeList,
): AsyncGenerator<HeldInscription[]> {
  await requireIndexes(client, ['locations_owner'], 'owners');
  await client.query(planSettings);
  const parts = rowsInTurns<HeldRow>(
    client,
    `SELECT txid, vout, value, height, id_txid, id_index, count(*) OVER () AS total
     FROM (${held}) AS held ORDER BY ${orders[order]}, key`,
    [Buffer.from(script), most + 1],
  );
  for await (const rows of parts) {
    refuseLarge(rows[0]?.total ?? 0, most);
    yield rows.map(({ id_txid: txid, id_index: index, total: _total, ...output }) => ({
      ...output,
      id: { txid, index },
    }));
  }
}

/**
 * The unspent outputs of a script that hold inscriptions. They are read in parts, with other work in between. Works
 * without the address index. Throws the errors of `allAddressOutputs`, and also if the outputs hold more than
 * `inscriptionsMost` inscriptions.
 */
export async function inscribedOutputs(
  client: ClientBase,
  script: Uint8Array,
  { order, most }: WholeList,
  inscriptionsMost: number,
): Promise<AddressOutput[]> {
  await requireIndexes(client, ['locations_owner'], 'owners');
  await client.query(planSettings);
  const parts = rowsInTurns<AddressOutput & { total: number; inscriptions: string }>(
    client,
    `SELECT txid, vout, min(value) AS value, min(height) AS height, count(*) OVER () AS total,
       sum(count(*)) OVER () AS inscriptions
     FROM (${held}) AS held GROUP BY txid, vout ORDER BY ${orders[order]}`,
    [Buffer.from(script), inscriptionsMost + 1],
  );
  const outputs: AddressOutput[] = [];
  for await (const rows of parts) {
    refuseLarge(rows[0]?.total ?? 0, most);
    refuseLarge(Number(rows[0]?.inscriptions ?? 0), inscriptionsMost);
    for (const { txid, vout, value, height } of rows) outputs.push({ txid, vout, value, height });
  }
  return outputs;
}

function refuseLarge(count: number, most: number): void {
  if (count <= most) return;
  throw new AppError(
    'address_too_large',
    `the address has more than ${most} outputs or inscriptions; read them in pages with /outputs/<address>?limit=1000 and /inscriptions?address=<address>`,
  );
}

/** The 36 bytes of an outpoint. */
export function outpointBytes({ txid, vout }: Pick<AddressOutput, 'txid' | 'vout'>): Buffer {
  const bytes = Buffer.alloc(36);
  bytes.set(txid);
  bytes.writeUInt32LE(vout, 32);
  return bytes;
}

/**
 * Heights of the blocks that spent the outputs of a transaction, by output index. The height is `null` if the output is
 * unspent. Needs the address index. Reads all outputs of the block, a few thousand rows. Returns `null` while the index
 * by height is being built.
 */
export async function spendHeights(
  client: ClientBase,
  { txid, height }: { readonly txid: Txid; readonly height: Height },
): Promise<ReadonlyMap<number, Height | null> | null> {
  if (!(await builtIndexes(client, ['outputs_height'])).has('outputs_height')) return null;
  const { rows } = await client.query<{ vout: number; spent_height: Height | null }>(
    'SELECT vout, spent_height FROM chain.outputs WHERE height = $1 AND txid = $2',
    [height, Buffer.from(txid)],
  );
  return new Map(rows.map(({ vout, spent_height }) => [vout, spent_height]));
}
