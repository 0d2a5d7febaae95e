import type { ClientBase } from 'pg';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import { requireIndexes } from '#chain/snapshot/built-indexes.ts';
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

/** An output that holds inscriptions; these are in the order of application. */
export interface InscribedOutput extends AddressOutput {
  readonly inscriptions: readonly InscriptionId[];
}

/** A page of outputs begins after this one. A forged cursor may name any numbers of the columns' types. */
export interface OutputPosition {
  readonly height: number;
  readonly txid: Txid;
  readonly vout: number;
}

/** Whether every output of every block is indexed with its owner (--index-addresses). */
export async function hasAddressIndex(client: ClientBase): Promise<boolean> {
  return isComplete(client, 'outputs');
}

/** Forces the walk along the one index, even where the planner misjudges an address with very many outputs. */
const planSettings = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`;

/**
 * The unspent outputs of a script, `limit` at most, by height and then by outpoint. Needs the address index. Costs
 * what it returns, plus the outputs of the block that `after` is in. Run it in a snapshot: it changes planner
 * settings of its transaction. Throws `index_missing` during a first sync.
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

/**
 * The number of unspent outputs of a script, and their sum in sats; counts at most `most` + 1 outputs. Needs the
 * address index, and a snapshot of its own like `addressOutputs`. Throws `index_missing` like it.
 */
export async function addressBalance(
  client: ClientBase,
  script: Uint8Array,
  most: number,
): Promise<{ outputs: number; sats: Sats }> {
  await requireIndexes(client, ['outputs_script'], 'owners');
  await client.query(planSettings);
  const { rows } = await client.query<{ outputs: number; sats: Sats }>(
    `SELECT count(*) AS outputs, coalesce(sum(value), 0)::bigint AS sats FROM (
       SELECT value FROM chain.outputs
       WHERE (chain.hash64(script, 0), height) >= (chain.hash64($1::bytea, 0), 0)
         AND (chain.hash64(script, 0), height) <= (chain.hash64($1::bytea, 0), 2147483647)
         AND script = $1 AND spent_height IS NULL
       ORDER BY chain.hash64(script, 0), height LIMIT $2
     ) AS unspent`,
    [Buffer.from(script), most + 1],
  );
  return rows[0] ?? { outputs: 0, sats: noSats };
}

interface HeldRow extends AddressOutput {
  readonly id_txid: Txid;
  readonly id_index: number;
}

/**
 * The unspent outputs of a script that hold inscriptions, as far as their places are known; at most `limit`
 * inscriptions, by key. Works without the address index. Throws `index_missing` during a first sync.
 */
export async function inscribedOutputs(
  client: ClientBase,
  script: Uint8Array,
  limit: number,
): Promise<InscribedOutput[]> {
  await requireIndexes(client, ['locations_owner'], 'owners');
  await client.query(planSettings);
  const { rows } = await client.query<HeldRow>(
    `SELECT coalesce(l.txid, i.txid) AS txid, l.vout, l.value, l.height, i.txid AS id_txid, i.index AS id_index
     FROM (
       SELECT chain.hash32(script) AS mark, key, txid, vout, value, height FROM chain.locations
       WHERE (chain.hash32(script), key) >= (chain.hash32($1::bytea), 0)
         AND (chain.hash32(script), key) <= (chain.hash32($1::bytea), 2147483647)
         AND script = $1 AND spent_height IS NULL AND script IS NOT NULL
       ORDER BY chain.hash32(script), key LIMIT $2
     ) AS l JOIN chain.inscriptions i ON i.key = l.key
     ORDER BY l.mark, l.key`,
    [Buffer.from(script), limit],
  );
  const outputs = new Map<string, InscribedOutput & { inscriptions: InscriptionId[] }>();
  for (const { id_txid: txid, id_index: index, ...output } of rows) {
    const name = outpointBytes(output).toString('latin1');
    const known = outputs.get(name);
    if (known === undefined) outputs.set(name, { ...output, inscriptions: [{ txid, index }] });
    else known.inscriptions.push({ txid, index });
  }
  return [...outputs.values()];
}

/** The 36 bytes of an outpoint: ord sorts the outputs of an address by them. */
export function outpointBytes({ txid, vout }: Pick<AddressOutput, 'txid' | 'vout'>): Buffer {
  const bytes = Buffer.alloc(36);
  bytes.set(txid);
  bytes.writeUInt32LE(vout, 32);
  return bytes;
}
