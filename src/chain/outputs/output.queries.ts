import type pg from 'pg';
import type { ClientBase } from 'pg';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/** An output: its transaction (internal order) and its index. */
export interface Outpoint {
  readonly txid: Txid;
  readonly vout: number;
}

/** An unspent output of the indexed chain. */
export interface KnownOutput {
  readonly height: Height;
  readonly value: Sats;
  /** Null where only the beginning of the script is kept. */
  readonly script: Uint8Array | null;
  /** In the order of application. */
  readonly inscriptions: readonly InscriptionId[];
}

/** Kept bytes of a script (indexer/apply/block-rows.ts): a script of exactly this length may be longer. */
const keptScriptBytes = 128;

/** The 32 secret bytes that key the fingerprints of outpoints. Null while nothing is indexed. */
export async function fingerprintKey(client: ClientBase): Promise<Uint8Array | null> {
  const { rows } = await client.query<{ key: Buffer }>('SELECT fingerprint_key AS key FROM chain.state');
  return rows[0]?.key ?? null;
}

/** What the index knows of some outputs. */
export interface KnownOutputs {
  /** The unspent ones, by position in the question. */
  readonly byPlace: ReadonlyMap<number, KnownOutput>;
  /** Every spendable output is kept: an unknown one is spent, unspendable, or not on this chain. */
  readonly hasAll: boolean;
}

/**
 * Which of these outputs are unspent: those that hold inscriptions, and all of them where every output is kept
 * (`--index-addresses`). `fingerprints` are those of the outpoints, as Postgres writes a bigint. Two or three reads
 * for any number: run it in a snapshot.
 */
export async function knownOutputs(
  client: ClientBase,
  outpoints: readonly Outpoint[],
  fingerprints: readonly string[],
): Promise<KnownOutputs> {
  const held = await heldOutputs(client, outpoints, fingerprints);
  if (!(await isComplete(client, 'outputs'))) return { byPlace: held, hasAll: false };
  const places = outpoints.map((_, place) => place).filter((place) => !held.has(place));
  const others = await keptOutputs(
    client,
    places.flatMap((place) => outpoints[place] ?? []),
  );
  for (const [index, output] of others) held.set(places[index] ?? -1, output);
  return { byPlace: held, hasAll: true };
}

async function heldOutputs(
  client: ClientBase,
  outpoints: readonly Outpoint[],
  fingerprints: readonly string[],
): Promise<Map<number, KnownOutput>> {
  const { rows } = await client.query<{
    place: number;
    height: Height;
    value: Sats;
    script: Buffer;
    txid: Txid;
    index: number;
  }>(
    `SELECT asked.place - 1 AS place, l.height, l.value, l.script, i.txid, i.index
     FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked(txid, vout, fingerprint, place)
     JOIN chain.locations l ON l.outpoint_fingerprint = asked.fingerprint AND l.spent_height IS NULL
       AND l.vout = asked.vout AND l.place = 0
     JOIN chain.inscriptions i ON i.key = l.key
     WHERE coalesce(l.txid, i.txid) = asked.txid
     ORDER BY asked.place, l.key`,
    [outpoints.map(({ txid }) => Buffer.from(txid)), outpoints.map(({ vout }) => vout), fingerprints],
  );
  return new Map(
    [...Map.groupBy(rows, ({ place }) => place)].flatMap(([place, held]) => {
      const [first] = held;
      if (first === undefined) return [];
      const { height, value, script } = first;
      const inscriptions = held.map(({ txid, index }) => ({ txid, index }));
      return [
        [place, { height, value, script: script.length < keptScriptBytes ? script : null, inscriptions }],
      ];
    }),
  );
}

/** Unspent outputs from the table of all outputs, by position in the question. */
async function keptOutputs(
  client: ClientBase,
  outpoints: readonly Outpoint[],
): Promise<Map<number, KnownOutput>> {
  const { rows } = await client.query<{ place: number; height: Height; value: Sats; script: Buffer }>(
    `SELECT asked.place - 1 AS place, o.height, o.value, o.script
     FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS asked(txid, vout, place)
     JOIN chain.outputs o ON chain.hash64(o.txid, o.vout) = chain.hash64(asked.txid, asked.vout)
       AND o.spent_height IS NULL AND o.txid = asked.txid AND o.vout = asked.vout`,
    [outpoints.map(({ txid }) => Buffer.from(txid)), outpoints.map(({ vout }) => vout)],
  );
  return new Map(
    rows.map(({ place, height, value, script }) => [place, { height, value, script, inscriptions: [] }]),
  );
}

/** The first `limit` lost, or unbound, inscriptions in the order of application. */
export async function inscriptionsOutside(
  client: ClientBase,
  place: 'lost' | 'unbound',
  limit: number,
): Promise<InscriptionId[]> {
  const { rows } = await client.query<InscriptionId>(
    `SELECT i.txid, i.index FROM chain.locations l JOIN chain.inscriptions i ON i.key = l.key
     WHERE l.place <> 0 AND l.place = $1 ORDER BY l.key LIMIT $2`,
    [place === 'lost' ? 1 : 2, limit],
  );
  return rows;
}

/** Where a transaction is in the indexed chain. */
export interface TransactionPlace {
  readonly height: Height;
  /** Internal order. */
  readonly blockHash: BlockHash;
  /** Position in the block. Null where only the block is known. */
  readonly index: number | null;
}

/**
 * Where a transaction is, as far as inscriptions tell: it revealed some, or one of its first outputs (those of
 * `fingerprints`) holds some now. Null where they do not tell.
 */
export async function transactionPlace(
  client: ClientBase,
  txid: Txid,
  fingerprints: readonly string[],
): Promise<TransactionPlace | null> {
  const { rows } = await client.query<{ height: Height; hash: BlockHash; index: number | null }>(
    `SELECT found.height, b.hash, found.index FROM (
       SELECT height, tx_index AS index FROM chain.inscriptions WHERE txid = $1
       UNION ALL
       SELECT height, NULL FROM chain.locations
       WHERE outpoint_fingerprint = ANY($2::bigint[]) AND spent_height IS NULL AND txid = $1
     ) AS found JOIN chain.blocks b ON b.height = found.height
     ORDER BY found.index LIMIT 1`,
    [Buffer.from(txid), fingerprints],
  );
  const [row] = rows;
  return row === undefined ? null : { height: row.height, blockHash: row.hash, index: row.index };
}

/** The number of inscriptions that a transaction revealed. */
export async function inscriptionCount(db: pg.Pool | ClientBase, txid: Txid): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM chain.inscriptions WHERE txid = $1',
    [Buffer.from(txid)],
  );
  return rows[0]?.count ?? 0;
}
