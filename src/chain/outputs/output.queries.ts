import type { ClientBase } from 'pg';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import { knowsSatRanges } from '#chain/derived/known-ranges.queries.ts';
import { rowsInTurns } from '#chain/snapshot/rows-in-turns.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { asSats, type Sats } from '#kernel/primitives/sats.ts';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';
import { satsIn } from '#kernel/sats/sat-range.ts';

/** An output: its transaction (internal order) and its index. */
export interface Outpoint {
  readonly txid: Txid;
  readonly vout: number;
}

/** An unspent output of the indexed chain. */
export interface KnownOutput {
  readonly height: Height;
  /** Value in sats. `null` if the output is known only from balances of runes. */
  readonly value: Sats | null;
  /** The script. `null` if only its beginning is stored. */
  readonly script: Uint8Array | null;
  /** The inscriptions in the output, in the order of application. */
  readonly inscriptions: readonly InscriptionId[];
  /** Block and index of the output's transaction. Absent if the rows of the output do not have them. */
  readonly transaction?: TransactionPlace;
}

/** Maximum stored bytes of a script (indexer/apply/block-rows.ts). A script with exactly this length may be longer. */
const keptScriptBytes = 128;

/** The secret key of 32 bytes with which fingerprints of outpoints are made. `null` while the index is empty. */
export async function fingerprintKey(client: ClientBase): Promise<Uint8Array | null> {
  const { rows } = await client.query<{ key: Buffer }>('SELECT fingerprint_key AS key FROM chain.state');
  return rows[0]?.key ?? null;
}

/** The data that the index has about some outputs. */
export interface KnownOutputs {
  /** The unspent outputs, by their index in the query. */
  readonly byPlace: ReadonlyMap<number, KnownOutput>;
  /**
   * True if every spendable output is stored. An output that is not found is then spent, unspendable, or not on this
   * chain.
   */
  readonly hasAll: boolean;
  /** Like `hasAll`, for outputs that have a value. The index of sats has these outputs, without their scripts. */
  readonly hasAllWithValue: boolean;
}

/**
 * Selects the given outputs that are unspent. It finds outputs with inscriptions, and all other outputs if every output
 * is stored (`--index-addresses`). `fingerprints` are the fingerprints of the outpoints, in Postgres' text form of a
 * bigint. Makes two or three reads for any number of outputs, so run it in a snapshot. Throws `address_too_large` like
 * `heldOutputs`.
 */
export async function knownOutputs(
  client: ClientBase,
  outpoints: readonly Outpoint[],
  fingerprints: readonly string[],
): Promise<KnownOutputs> {
  const held: Map<number, KnownOutput> = await heldOutputs(client, outpoints, fingerprints);
  const hasAll = await isComplete(client, 'outputs');
  const hasAllWithValue = hasAll || (await knowsSatRanges(client));
  if (!hasAllWithValue) return { byPlace: held, hasAll, hasAllWithValue };
  const places = outpoints.map((_, place) => place).filter((place) => !held.has(place));
  const left = places.flatMap((place) => outpoints[place] ?? []);
  const others = hasAll ? await keptOutputs(client, left) : await outputsWithSats(client, left);
  for (const [index, output] of others) held.set(places[index] ?? -1, output);
  return { byPlace: held, hasAll, hasAllWithValue };
}

interface HeldRow {
  place: number;
  height: Height;
  value: Sats;
  script: Buffer;
  txid: Txid;
  index: number;
  total: number;
}

/**
 * Maximum number of inscriptions in one response about outputs. They take 14 MB. An output can hold any number of
 * inscriptions.
 */
export const heldMax = 200_000;

/**
 * Selects the given outputs that are unspent and hold inscriptions, by their index in the query. Rows are read in
 * parts, with other work in between. Throws `address_too_large` if the outputs hold more than `most` inscriptions.
 */
export async function heldOutputs(
  client: ClientBase,
  outpoints: readonly Outpoint[],
  fingerprints: readonly string[],
  most = heldMax,
): Promise<Map<number, KnownOutput>> {
  const parts = rowsInTurns<HeldRow>(
    client,
    `SELECT place, height, value, script, txid, index, count(*) OVER () AS total FROM (
       SELECT asked.place - 1 AS place, l.height, l.value, l.script, i.txid, i.index, l.key
       FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked(txid, vout, fingerprint, place)
       JOIN chain.locations l ON l.outpoint_fingerprint = asked.fingerprint AND l.spent_height IS NULL
         AND l.vout = asked.vout AND l.place = 0
       JOIN chain.inscriptions i ON i.key = l.key
       WHERE coalesce(l.txid, i.txid) = asked.txid LIMIT $4
     ) AS held ORDER BY place, key`,
    [
      outpoints.map(({ txid }) => Buffer.from(txid)),
      outpoints.map(({ vout }) => vout),
      fingerprints,
      most + 1,
    ],
  );
  const held = new Map<number, KnownOutput & { readonly inscriptions: InscriptionId[] }>();
  for await (const rows of parts) {
    if ((rows[0]?.total ?? 0) > most)
      throw new AppError('address_too_large', `these outputs hold more than ${heldMax} inscriptions`);
    for (const { place, height, value, script, txid, index } of rows) {
      const known = held.get(place);
      const whole = script.length < keptScriptBytes ? script : null;
      if (known !== undefined) known.inscriptions.push({ txid, index });
      else held.set(place, { height, value, script: whole, inscriptions: [{ txid, index }] });
    }
  }
  return held;
}

/** Unspent outputs from the table of all outputs, by their index in the query. */
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

/** Unspent outputs with a value from the index of sats, by their index in the query. */
async function outputsWithSats(
  client: ClientBase,
  outpoints: readonly Outpoint[],
): Promise<Map<number, KnownOutput>> {
  const { rows } = await client.query<{ place: number; height: Height; ranges: Buffer }>(
    `SELECT asked.place - 1 AS place, r.height, r.ranges
     FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS asked(txid, vout, place)
     JOIN chain.sat_ranges r ON chain.hash64(r.txid, r.vout) = chain.hash64(asked.txid, asked.vout)
       AND r.txid = asked.txid AND r.vout = asked.vout`,
    [outpoints.map(({ txid }) => Buffer.from(txid)), outpoints.map(({ vout }) => vout)],
  );
  return new Map(
    rows.map(({ place, height, ranges }) => {
      const value = asSats(satsIn(unpackRanges(ranges)));
      return [place, { height, value, script: null, inscriptions: [] }];
    }),
  );
}

/**
 * The lost or the unbound inscriptions, in the order of application. Rows are read in parts, with other work in
 * between. Throws `address_too_large` if there are more than `most`; that many index entries are read first.
 */
export async function inscriptionsOutside(
  client: ClientBase,
  place: 'lost' | 'unbound',
  most = heldMax,
): Promise<InscriptionId[]> {
  const number = place === 'lost' ? 1 : 2;
  const { rows: counts } = await client.query<{ count: number }>(
    `SELECT count(*) AS count FROM (
       SELECT FROM chain.locations WHERE place <> 0 AND place = $1 LIMIT $2
     ) AS outside`,
    [number, most + 1],
  );
  if ((counts[0]?.count ?? 0) > most)
    throw new AppError('address_too_large', `more than ${most} inscriptions are ${place}`);
  const parts = rowsInTurns<InscriptionId>(
    client,
    `SELECT i.txid, i.index FROM chain.locations l JOIN chain.inscriptions i ON i.key = l.key
     WHERE l.place <> 0 AND l.place = $1 ORDER BY l.key LIMIT $2`,
    [number, most],
  );
  const found: InscriptionId[] = [];
  for await (const rows of parts) found.push(...rows);
  return found;
}

/** The block of a transaction in the indexed chain, and the index of the transaction in the block. */
export interface TransactionPlace {
  readonly height: Height;
  /** Internal order. */
  readonly blockHash: BlockHash;
  /** Index of the transaction in the block. `null` if only the block is known. */
  readonly index: number | null;
}

/** A transaction, and the outputs of it from which its block may be found. */
export interface AskedTransaction {
  readonly txid: Txid;
  readonly vouts: readonly number[];
  /** Fingerprints of these outputs. Empty if the index has no key for fingerprints. */
  readonly fingerprints: readonly string[];
}

const placesByRunes = `
         UNION ALL
         SELECT runic.height, runic.tx_index FROM unnest(($5::bigint[])[asked.first:asked.last]) AS probed(vout), LATERAL (
           SELECT height, tx_index FROM chain.rune_balances r
           WHERE chain.hash64(r.txid, r.vout) = chain.hash64(asked.txid, probed.vout)
             AND r.spent_height IS NULL AND r.txid = asked.txid AND r.vout = probed.vout LIMIT 1
         ) AS runic`;

/**
 * Finds the blocks of transactions from inscriptions and from the index of sats. A block is found if the transaction
 * revealed inscriptions, or if one of the given outputs now holds inscriptions or sats. The result is by index in the
 * query; a transaction that is not found is absent. Costs one or two index look-ups for each output.
 *
 * @param withRunes whether balances of runes in these outputs are used too, with another look-up for each
 */
export async function transactionPlaces(
  client: ClientBase,
  asked: readonly AskedTransaction[],
  withRunes = false,
): Promise<Map<number, TransactionPlace>> {
  let end = 0;
  const ends = asked.map(({ vouts }) => (end += vouts.length));
  const { rows } = await client.query<{
    place: number;
    height: Height;
    hash: BlockHash;
    index: number | null;
  }>(
    `SELECT asked.place - 1 AS place, found.height, found.hash, found.index
     FROM unnest($1::bytea[], $2::int[], $3::int[]) WITH ORDINALITY AS asked(txid, first, last, place), LATERAL (
       SELECT told.height, b.hash, told.index FROM (
         SELECT height, tx_index AS index FROM chain.inscriptions WHERE txid = asked.txid
         UNION ALL
         SELECT height, NULL FROM chain.locations
         WHERE outpoint_fingerprint = ANY(($4::bigint[])[asked.first:asked.last])
           AND spent_height IS NULL AND txid = asked.txid
         UNION ALL
         SELECT r.height, NULL FROM unnest(($5::bigint[])[asked.first:asked.last]) AS probed(vout)
         JOIN chain.sat_ranges r ON chain.hash64(r.txid, r.vout) = chain.hash64(asked.txid, probed.vout)
           AND r.txid = asked.txid AND r.vout = probed.vout${withRunes ? placesByRunes : ''}
       ) AS told JOIN chain.blocks b ON b.height = told.height
       ORDER BY told.index LIMIT 1
     ) AS found`,
    [
      asked.map(({ txid }) => Buffer.from(txid)),
      asked.map(({ vouts }, index) => (ends[index] ?? 0) - vouts.length + 1),
      ends,
      asked.flatMap(({ fingerprints }) => fingerprints),
      asked.flatMap(({ vouts }) => vouts),
    ],
  );
  return new Map(rows.map(({ place, height, hash, index }) => [place, { height, blockHash: hash, index }]));
}

/** The number of inscriptions that a transaction revealed. */
export async function inscriptionCount(db: ClientBase, txid: Txid): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM chain.inscriptions WHERE txid = $1',
    [Buffer.from(txid)],
  );
  return rows[0]?.count ?? 0;
}
